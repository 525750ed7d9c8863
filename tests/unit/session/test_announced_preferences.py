from gemmviz.session.models.preferences import Preferences


def test_only_a_changed_look_is_announced() -> None:
    preferences, announced = Preferences(), []
    preferences.themed.connect(lambda: announced.append(preferences.theme))
    for theme in ("light", "light", "dark"):
        preferences.set_theme(theme)
    preferences.set_type_scale(1.2)
    preferences.set_type_scale(1.2)
    preferences.set_calm(True)
    preferences.set_calm(True)
    assert announced == ["light", "dark", "dark", "dark"]
