from optac.studies.bench import size


def test_small_sizes_are_measured_and_shown(monkeypatch, capsys) -> None:
    monkeypatch.setattr(size, "SIZES", {"states": 20, "actions": 2, "horizon": 3, "rank": 2})
    monkeypatch.setattr(size, "EPISODES", 30)
    monkeypatch.setattr(size, "ITERATIONS", 3)
    monkeypatch.setattr(size, "SOLVED", (("random-simplex", {"states": 10}, "lsvi-ucb", {}),))
    found = size.measure()
    assert {name: len(seconds) for name, seconds in found["iterations"].items()} == {
        "linear": 3,
        "decoder": 3,
    }
    (solved,) = found["solved"]
    assert solved["last_gap"] <= solved["target_gap"] and solved["episodes"] < 20_000
    size.show(found)
    shown = capsys.readouterr().out
    assert "states 20, actions 2" in shown and f"{solved['episodes']:,}" in shown
