"""How the window looks: theme, style, icons, labels, figures as text."""
