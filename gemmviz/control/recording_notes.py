"""Messages about a recording: the recorder's notes, the reason for another size, the purpose of an exhibit."""

import re
from dataclasses import replace
from functools import partial

from gemmviz.catalogue.errors import GemmvizError
from gemmviz.catalogue.kernel import Kernel
from gemmviz.catalogue.launch import launch
from gemmviz.checking.plan import shown_at
from gemmviz.language import tr, trn
from gemmviz.session import Answer, Message, Session
from gemmviz.trace.playable import Playable


def about(playable: Playable, session: Session) -> Message | None:
    """Return the message about the recording of the chosen kernel; None if there is none."""
    kernel, lesson = session.choice.kernel, session.tour.lesson
    if lesson is not None and kernel.exhibit:
        return None  # the lesson explains it
    noticed = _noticed(playable, session)
    if noticed is not None and kernel.exhibit and playable.recording.wrong:
        # The stage counts the wrong elements, the findings explain them: a longer message would cover the timeline.
        noticed = replace(noticed, text="")
    found = explained(noticed, kernel)
    if found is None and lesson is None:
        found = _unseen(playable, session) or _another_size(session)
    return replace(found, anew=partial(about, playable, session)) if found is not None else None


def explained(message: Message | None, kernel: Kernel) -> Message | None:
    """Begin the message about an exhibit with the exhibit's purpose: its failure is intended."""
    if message is None or not kernel.exhibit:
        return message
    text = f"{exhibit_text(kernel.exhibit)}\n{message.text}".rstrip()
    return replace(message, text=text, kind="info", lasting=True)


def purpose(exhibit: str) -> Message:
    """Return the message about an exhibit that is chosen."""
    return Message(exhibit_text(exhibit), "info", lasting=True, anew=partial(purpose, exhibit))


def exhibit_text(exhibit: str) -> str:
    """Return the purpose of an exhibit as text."""
    return tr("Exhibit: {why}", why=tr(exhibit))


def _another_size(session: Session) -> Message | None:
    """Return a message with the reason when a rung is shown at another size than the chosen one."""
    choice = session.choice
    if choice.wanted is None or choice.problem == choice.wanted:
        return None
    try:
        launch(choice.kernel, choice.wanted, choice.params)
    except GemmvizError as error:
        return Message(tr("Shown at {size}, because {why}", size=choice.problem, why=error), "info")
    values = {"size": choice.problem, "wanted": choice.wanted}
    return Message(
        tr("Shown at {size}, because {wanted} would not fill the tiles of several blocks.", **values), "info"
    )


def _unseen(playable: Playable, session: Session) -> Message | None:
    """Return a message if a change of the kernel has no visible effect at this size, but has one at another size."""
    choice, report = session.choice, session.findings.here
    if report is None or report.findings or playable.recording.wrong:
        return None
    for change in choice.base.breaks:
        if change.id not in choice.breaks or not change.defects:
            continue
        shown = shown_at(choice.kernel, change, choice.params)
        if shown is None or shown == (choice.problem, choice.params):
            continue
        size, params = shown
        values = "".join(f", {name} = {value}" for name, value in change.params.items())
        text = tr(
            "“{change}” has no visible effect at {size}. At {where} it leads to: {defects}.",
            change=tr(change.title),
            size=choice.problem,
            where=f"{size}{values}",
            defects=", ".join(tr(kind) for kind in change.defects),
        )
        use = Answer(tr("Use {size}", size=f"{size}{values}"), partial(choice.choose, problem=size, params=params))
        return Message(text, "info", answers=(use,))
    return None


def with_guess(message: Message, session: Session) -> Message:
    """Return the message about a run that has failed, of a kernel whose launch was guessed: that may be the reason."""
    if session.guesses.file(session.choice.kernel) is None:
        return message
    text = f"{message.text}\n{_of_guess(session)}"
    return replace(message, text=text, kind="warning", answers=(_check(session), *message.answers))


def _check(session: Session) -> Answer:
    return Answer(tr("Check the guess…"), session.guesses.asked.emit)


def _of_guess(session: Session) -> str:
    """Return what a wrong C says about a kernel whose launch was guessed: little, until other launches were tried."""
    outcome = session.guesses.outcome(session.choice.kernel)
    return outcome or tr("Its launch was guessed: other launches are tried now.")


def _noticed(playable: Playable, session: Session) -> Message | None:
    """Return a message with the recorder's notes, if there are any; where there are findings, it leads to them."""
    recording = playable.recording
    notes = list(recording.notes)
    show = Answer(tr("Show the findings"), partial(session.inspection.turn_to, "findings"))
    if recording.wrong:
        wrong = trn(
            "{kernel} computed {count} wrong element of C.",
            "{kernel} computed {count} wrong elements of C.",
            recording.wrong,
            kernel=recording.label,
        )
        notes.insert(0, wrong)
    # A note begins with FILE:LINE if the recorder knows the line.
    line = next((int(place[1]) for note in notes if (place := re.match(r"\S+?:(\d+): ", note))), None)
    report = session.findings.here
    found = recording.wrong or (report is not None and report.findings)
    answers: tuple[Answer, ...] = (show,) if found else ()
    if recording.wrong and session.guesses.file(session.choice.kernel) is not None:
        notes = [f"{notes[0]} {_of_guess(session)}"]
        answers = (_check(session), show)
    return Message("\n".join(notes[:4]), "warning", line, answers) if notes else None
