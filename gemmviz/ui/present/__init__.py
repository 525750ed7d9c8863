"""In front of a class: the picture alone on a second screen, and questions to guess at."""
