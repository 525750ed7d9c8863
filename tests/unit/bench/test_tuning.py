"""A search for the fastest parameters: its candidates, its comparisons, and skipped candidates."""

import random
from collections import Counter
from itertools import product
from math import prod

import pytest
from tuning_kernels import CUDA, SIZE, cuda, cuda_space, row, run

from gemmviz.bench import results
from gemmviz.bench.protocol import Protocol
from gemmviz.bench.tuning.outcome import outcome
from gemmviz.bench.tuning.search import LEAST_ROUNDS, MOST_FINALISTS, ROUNDS, Search
from gemmviz.bench.tuning.space import BLOCK, MOST, SHARED, Space, space
from gemmviz.catalogue.errors import ConstraintError
from gemmviz.catalogue.problem import Problem

HEADER = results.document({}, None, Protocol())
H200 = {"name": "NVIDIA H200", "cc": "9.0", "shared_per_block_bytes": 227 * 1024}


def searching(seconds=1000.0, held=None):
    return Search(cuda_space(held), SIZE.flops, seconds)


def noisy(times, noise):
    """Return a machine on which each round of each candidate is off by up to half of `noise`, up or down."""
    return lambda n, r: times(n) * (1 + noise * (random.Random(f"round {r} of {n}").random() - 0.5))


# What can be tried


def test_combinations_that_cannot_run_are_left_out_and_counted():
    found = cuda_space()
    assert found.combinations == 9
    assert found.left_out == {"BM + BN <= 192": 1}
    assert found.candidates[0] == found.default == {"BM": 64, "BN": 64}
    assert {"BM": 128, "BN": 128} not in found.candidates


def test_blocks_that_cuda_does_not_allow_and_too_much_shared_memory_are_left_out():
    big = CUDA.replace("BM + BN <= 192", "BM > 0").replace("BM / 4", "BM").replace("BN / 4", "BN / 2")
    assert space(cuda(big), SIZE, {}, None).left_out == {BLOCK: 6}
    small = H200 | {"shared_per_block_bytes": 16 * 1024}
    assert cuda_space(device=small).left_out == {SHARED: 2, "BM + BN <= 192": 1}
    assert cuda_space(device=H200).left_out == {"BM + BN <= 192": 1}


def test_a_held_parameter_keeps_its_value_even_one_that_is_not_offered():
    found = cuda_space(held={"BM": 48})
    assert [c["BM"] for c in found.candidates] == [48, 48, 48]
    assert found.default == {"BM": 48, "BN": 64}


@pytest.mark.parametrize(
    ("text", "held", "says"),
    [
        (CUDA, {"TS": 4}, "no parameter 'TS'"),
        (CUDA.replace("{ BM = [64, 32, 128], BN = [64, 32, 128] }", "{}").replace("BM", "64").replace("BN", "64")
         .replace("<64, 64>", "").replace("template <int 64, int 64>\n", ""), {}, "nothing to tune"),
        (CUDA.replace("BM + BN <= 192", "M % 7 == 0"), {}, r"no combination .* 63 x 64 x 64 works"),
        (CUDA.replace("[64, 32, 128]", str(list(range(1, MOST // 100)))), {}, "fix some parameters"),
    ],
)  # fmt: skip
def test_a_kernel_that_cannot_be_tuned_has_a_message(text, held, says):
    with pytest.raises(ConstraintError, match=says):
        space(cuda(text), SIZE, held, None)


# Candidates and the winner


def test_everything_is_looked_at_the_default_first_and_the_fastest_wins_the_race():
    search = searching()
    log = run(search, noisy(lambda n: 1.0 if n == 5 else 1.1 + 0.01 * n, 0.01))
    assert log[0] == 0 and set(log[:8]) == set(range(8))
    assert search.winner == 5 and search.clear
    assert search.gain(5, 0) == pytest.approx(1.1, rel=0.02)
    counts = Counter(log)
    assert counts[5] == counts[0] >= 1 + LEAST_ROUNDS


def test_the_race_takes_turns_and_each_round_goes_the_other_way():
    search = searching()
    log = run(search, noisy(lambda n: 1.0 + 0.001 * n, 0.05))
    rounds = [log[i : i + MOST_FINALISTS] for i in range(MOST_FINALISTS, 4 * MOST_FINALISTS, MOST_FINALISTS)]
    assert [sorted(r) for r in rounds] == [list(range(8))] * 3
    assert rounds[0] == rounds[1][::-1] == rounds[2]


def test_of_candidates_within_the_noise_the_default_wins_or_else_the_earlier_declared():
    search = searching()
    log = run(search, noisy(lambda n: 1.0 if n in (0, 3, 6) else 1.2, 0.04))
    assert search.winner == 0 and not search.clear
    assert max(Counter(log).values()) <= 1 + ROUNDS
    search = searching()
    run(search, noisy(lambda n: 1.0 if n in (3, 6) else 1.2, 0.04))
    assert search.winner == 3 and {search.best, *search.equals} == {3, 6}


def test_a_difference_smaller_than_one_round_s_noise_is_found_over_several_rounds():
    search = searching()
    run(search, noisy(lambda n: 0.97 if n == 4 else 1.0, 0.02))
    assert search.winner == 4 and search.clear


def test_candidates_that_are_alike_for_sure_end_the_race():
    search = searching()
    log = run(search, lambda n, r: 1.0)
    assert search.winner == 0
    assert max(Counter(log).values()) == 1 + LEAST_ROUNDS


def test_drift_that_affects_all_alike_makes_no_candidate_faster():
    count = iter(range(10_000))
    search = searching()
    run(search, lambda n, r: 1.0 + 0.003 * next(count))
    assert search.winner == 0


def test_a_candidate_that_is_wrong_or_fails_is_never_ranked_and_never_measured_again():
    search = searching()
    log = run(search, lambda n, r: 0.1 if n == 2 else 1.0 + n, status_of=lambda n: "wrong" if n == 2 else "ok")
    assert search.winner == 0 and log.count(2) == 1
    document = outcome(cuda(), SIZE, search, HEADER, 1.0, False)
    assert document["failed"] == {"wrong": 1}
    assert document["candidates"][-1]["status"] == "wrong" and document["candidates"][-1]["gflops"] is None


def test_a_racer_that_goes_wrong_later_leaves_the_race():
    search = searching()
    kernel, measured = cuda(), {}
    while (number := search.next(0.0)) is not None:
        times = measured.setdefault(number, [])
        times.append(0.9 if number == 1 else 1.0 + 0.1 * number)
        bad = number == 1 and len(times) == 3
        search.take(number, row(kernel, search.space.candidates[number], times, "wrong" if bad else "ok"), bad)
    assert search.winner == 0 and len(measured[1]) == 3


def test_nothing_that_is_right_means_no_winner():
    search = searching()
    run(search, lambda n, r: 1.0, status_of=lambda n: "launch")
    document = outcome(cuda(), SIZE, search, HEADER, 1.0, False)
    assert search.winner is None and document["params"] is document["gflops"] is document["default"] is None


def test_when_time_is_short_some_are_not_tried_and_the_race_still_comes():
    search = searching(seconds=10.0)
    log = run(search, noisy(lambda n: 1.0 + 0.01 * n, 0.001), spent=lambda count: 1.0 * count)
    assert len(search.order) == 6 and len(log) == 10
    document = outcome(cuda(), SIZE, search, HEADER, 10.0, False)
    assert (document["tried"], document["untried"], document["combinations"]) == (6, 2, 9)
    assert document["params"] == {"BM": 64, "BN": 64}


def test_the_default_is_tried_however_little_time_there_is():
    search = searching(seconds=0.001)
    assert run(search, lambda n, r: 1.0, spent=lambda count: 1.0) == [0]
    assert search.winner == 0


def test_most_looks_change_one_parameter_of_the_fastest():
    search = searching()
    log = run(search, lambda n, r: 1.0 + 0.3 * n, most=4)
    params = search.space.candidates
    for number in log[1:4]:
        assert sum(params[number][name] != params[0][name] for name in params[0]) == 1


def test_a_space_too_large_to_try_is_searched_where_it_is_fast():
    values = {name: tuple(range(4)) for name in "ABCDE"}
    candidates = [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]
    weight = {name: [1.0 + ((7 * place + 3 * at) % 4) / 4 for at in range(4)] for place, name in enumerate(values)}
    seconds = [prod(weight[name][at] for name, at in params.items()) for params in candidates]
    search = Search(Space(tuple(candidates), candidates[0], {}), SIZE.flops, 1e9)
    for _ in range(80):
        number = search.next(0.0)
        search.take(number, row(cuda(), {}, [seconds[number]]), False)
    tried = [seconds[number] for number in search.order]
    assert min(tried) == min(seconds) and len(tried) == 80 < len(candidates) / 10


def test_a_single_round_of_each_calls_nothing_faster_that_may_be_noise():
    search = searching(seconds=2.0)
    run(search, lambda n, r: 0.98 if n else 1.0, spent=lambda count: 1.0 * count)
    assert len(search.order) == 2 and search.winner == 0
    search = searching(seconds=2.0)
    run(search, lambda n, r: 0.9 if n else 1.0, spent=lambda count: 1.0 * count)
    assert search.winner != 0


def test_a_candidate_that_did_not_race_is_compared_by_its_look_alone():
    search = searching()
    # From the interleaved rounds on, the whole machine is half as fast.
    run(search, lambda n, r: (1.0 if n == 0 else 1.25 if n < 5 else 1.1) * (2 if r else 1))
    shares = {c["number"]: c["of_best"] for c in outcome(cuda(), SIZE, search, HEADER, 1.0, False)["candidates"]}
    assert search.winner == 0 and shares[1] == pytest.approx(0.8, rel=0.01)
    assert search.gflops(1) > search.gflops(0)


def test_a_search_is_taken_up_where_it_stood():
    whole = searching()
    times = noisy(lambda n: 1.0 + 0.02 * n, 0.01)
    run(whole, times, most=14)
    known = [(n, whole.rows[n], False) for n in whole.order]
    again = Search(cuda_space(), SIZE.flops, 1000.0, known)
    assert again.order == whole.order and again.remaining == whole.remaining and again.best == whole.best
    assert again.next(0.0) == whole.next(0.0)


def test_the_time_left_shrinks_and_never_passes_the_limit():
    search, left = searching(seconds=30.0), []
    kernel = cuda()
    assert search.left_s(0.0) <= 30.0
    for count in range(8):
        number = search.next(0.5 * count)
        search.take(number, row(kernel, search.space.candidates[number], [1.0 + number]), False, 0.5)
        left.append(search.left_s(0.5 * (count + 1)))
    assert left == sorted(left, reverse=True) and 0 < left[-1] < left[0] < 30.0


def test_the_outcome_lists_the_best_first_and_is_plain():
    search = searching()
    run(search, noisy(lambda n: 1.0 + 0.1 * abs(n - 3), 0.001))
    header = HEADER | {"device": H200, "env": {"cpu": {"model": "abacus", "cores": 2}}}
    document = outcome(cuda(), Problem(64, 64, 64), search, header, 12.5, True)
    assert document["params"] == document["candidates"][0]["params"] == search.space.candidates[3]
    assert document["default"]["params"] == {"BM": 64, "BN": 64}
    assert document["gain"] == pytest.approx(1.3, rel=0.01)
    assert document["tuned_on"] == "NVIDIA H200" and document["cancelled"]
    shares = [c["of_best"] for c in document["candidates"]]
    assert shares[0] == 1.0 and shares == sorted(shares, reverse=True)
