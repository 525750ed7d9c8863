"""The stage's parameters, where a kernel's schedule decides them: the demo's at its size, else the schedule's."""

import pytest

from gemmviz.catalogue.ladder import find, ladder
from gemmviz.catalogue.problem import Problem
from gemmviz.catalogue.scheduled import usual, why
from gemmviz.session import Session
from gemmviz.session.values.picture_size import picture_params


def choice_of(name):
    choice = Session(ladder()).choice
    choice.choose_kernel(find(name, ladder()))
    return choice


def test_parameters_that_nobody_chose_follow_the_size_and_come_back_to_the_demos():
    choice = choice_of("every_shape")
    demo = choice.params
    assert demo == choice.kernel.defaults | choice.kernel.demo.params
    choice.choose(Problem(200, 120, 72))
    assert choice.params == usual(choice.kernel, choice.problem) and choice.launch().blocks > 1
    assert why(choice.kernel, choice.problem, choice.params).startswith("Tiles of 8 x 64")
    choice.choose(Problem(*choice.kernel.demo.size))
    assert choice.params == demo


def test_a_parameter_that_the_user_chose_keeps_all():
    choice = choice_of("every_shape")
    choice.choose(params={"STAGES": 3})
    chosen = choice.params
    choice.choose(Problem(64, 64, 512))
    assert choice.params == chosen


def test_what_no_schedule_decides_stays():
    choice = choice_of("whole_a")
    assert choice.params["GPUS"] == 2
    choice.choose(params={"GPUS": 4})
    choice.choose(Problem(512, 512, 512))
    assert choice.params == usual(choice.kernel, choice.problem, {"GPUS": 4})
    assert why(choice.kernel, choice.problem, choice.params)


def test_a_kernel_is_opened_at_the_chosen_size_with_the_schedules_parameters():
    choice = choice_of("mm")
    choice.choose(Problem.cube(256))
    choice.choose_kernel(find("tf32", ladder()))
    assert choice.problem == Problem.cube(256) and choice.params == usual(choice.kernel, choice.problem)


@pytest.mark.parametrize("gpu", [78, 132])
def test_the_stages_parameters_follow_another_gpu(gpu):
    choice = choice_of("every_shape_fp32")
    try:
        choice.choose(Problem.cube(512))
        choice.schedule_for(gpu)
        assert choice.params == usual(choice.kernel, choice.problem)
        demo = choice.kernel.demo
        assert picture_params(choice.kernel, Problem(*demo.size)) == demo.params
    finally:
        choice.schedule_for(None)


def test_parameters_of_a_kernel_without_a_schedule_stay():
    choice = choice_of("gputiled")
    before = choice.params
    choice.choose(Problem.cube(12))
    assert choice.params == before
