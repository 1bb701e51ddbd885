"""What the accuracy on a labelled fleet must be."""

from dataclasses import dataclass

from tests.fleet.labelled.score import Score


@dataclass(frozen=True)
class Measure:
    """One figure and its bound.

    Attributes:
        title: What is measured.
        part: How many.
        whole: Of how many.
        bound: The share that `part` may have at most or must have at least.
        is_least: Whether the bound is the least share.
    """

    title: str
    part: int
    whole: int
    bound: float
    is_least: bool = False

    @property
    def share(self) -> float:
        """Part of the whole; of nothing, what the bound asks."""
        if self.whole == 0:
            return 1.0 if self.is_least else 0.0
        return self.part / self.whole

    @property
    def is_met(self) -> bool:
        """Whether the bound is kept."""
        return self.share >= self.bound if self.is_least else self.share <= self.bound


def measures(score: Score) -> list[Measure]:
    """The figures that are promised."""
    undetermined = score.ends - score.determined
    return [
        Measure("ends with another pod", score.wrong, score.ends, 0.0001),
        Measure("determined ends that are named", score.named, score.determined, 0.995, True),
        Measure("undetermined ends that are named", score.undetermined_named, undetermined, 0.0),
        Measure("own and only name found", score.right_names, score.names, 0.99, True),
        Measure("winners among several own names", score.forced, score.connections, 0.0),
        Measure("peers with another name", score.wrong_names, score.named_peers, 0.001),
        Measure("exported pods without their run and attempt", score.misplaced, score.pods, 0.0),
        Measure("named pods with another run or attempt", score.wrong_runs, score.runs, 0.0),
        Measure("only container found", score.right_containers, score.containers, 0.995, True),
        Measure("another container", score.wrong_containers, score.acted, 0.0001),
        Measure("winners among containers", score.chosen_containers, score.crowded, 0.0),
        Measure("counters with another pod", score.counted_wrong, score.counted, 0.0001),
        Measure(
            "determined counters named", score.counted_named, score.counted_determined, 0.995, True
        ),
        Measure("flow records with another pod", score.sent_wrong, score.sent, 0.0001),
        Measure(
            "determined flow records named", score.sent_named, score.sent_determined, 0.995, True
        ),
        Measure("true connections with a row", score.paired, score.connections, 0.9999, True),
        Measure("rows that double a connection", score.doubled, score.paired, 0.0001),
        Measure("rows of no true connection", score.unpaired_rows, score.paired, 0.0001),
        Measure("injected gaps that were missed", score.missed_gaps, score.gaps, 0.0),
        Measure("pods said to do nothing inside a gap", score.certain_inside, score.ends, 0.0),
        Measure("aggregated flows miscounted", score.miscounted, score.aggregated, 0.0),
        Measure("masked records miscounted", score.unmasked, score.masked, 0.0),
    ]
