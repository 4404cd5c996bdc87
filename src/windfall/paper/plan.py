"""The declarative list of runs: nine problems, five policies, and what explains the differences."""

from dataclasses import replace
from typing import Literal

from windfall.acquisition.lw import LWUCB
from windfall.acquisition.ucb import GPUCB, VUCB
from windfall.checks import known_name
from windfall.compare.contenders import BASELINES
from windfall.compare.experiment import Experiment, Run
from windfall.errors import InputError
from windfall.paper.variants import AuthorsEI, PullsGP, QuadrantLWUCB
from windfall.policy import Policy, as_policy
from windfall.problems import Problem, load, suite

__all__ = ["BASELINES", "PRESETS", "paper"]

Preset = Literal["quick", "full"]
SYNTHETIC = ("cosine", "michalewicz", "modified-michalewicz")
WHEELS = ("wheel-0.5", "wheel-0.7", "wheel-0.9")
#: The most trials and rounds of a preset; None: the paper's. Few rounds need few compilations,
#: which is what a quick run mostly waits for.
PRESETS: dict[str, tuple[int, int] | None] = {"quick": (6, 50), "full": None}
#: Variants show what a departure does to a curve; a few trials are enough for that.
VARIANT_TRIALS = 16
SEED = 0


def paper(
    preset: Preset = "quick",
    *,
    only: str | None = None,
    data_dir: str | None = None,
    trials: int | None = None,
    rounds: int | None = None,
) -> list[Experiment]:
    """The experiments of the paper, protocol as published.

    Args:
        preset: "full" has the paper's 100/500/200 trials, "quick" a few, of fifty rounds.
        only: One experiment by name.
        data_dir: Where the sensor data are; problems whose data are missing are left out.
        trials: Overrides the preset (at most the problem's).
        rounds: Overrides the problem's rounds, for trying things out.
    """
    known_name("preset", preset, PRESETS)
    published = suite("paper")
    if only is not None:
        known_name("only", only, published)
    experiments = []
    for name in published if only is None else (only,):
        try:
            problem = load(name, data_dir)
        except InputError:
            if only is not None or name in (*SYNTHETIC, *WHEELS):
                raise
            continue
        most = problem.protocol
        limits = PRESETS[preset] or (most.trials, most.rounds)
        experiments.append(
            _experiment(
                problem,
                min(trials or limits[0], most.trials),
                rounds or min(limits[1], most.rounds),
            )
        )
    return experiments


def _experiment(problem: Problem, trials: int, rounds: int) -> Experiment:
    protocol = problem.protocol
    kappa, components = protocol.kappa, protocol.components
    base = Run(problem.name, "", as_policy("v-ucb"), rounds, trials, SEED)

    def run(label: str, policy: Policy, reference: str = "", variant: str = "") -> Run:
        key = f"{problem.name}/{reference}" if reference else ""
        shown = min(trials, VARIANT_TRIALS) if variant else trials
        return replace(
            base, label=label, policy=policy, trials=shown, reference=key, variant=variant
        )

    saved = f"lw-ucb-gmm{components}"
    runs = (
        run("lw-ucb", Policy(LWUCB(kappa, components)), saved),
        run("ei", as_policy("ei")),
        run("ts", as_policy("ts"), "ts"),
        run("v-ucb", Policy(VUCB(kappa)), "v-ucb"),
        run("gp-ucb", as_policy("gp-ucb")),
    )
    pulls = PullsGP()
    over_pulls = "rewards standardised over pulls"
    variants = [
        run("gp-ucb (scaled β)", as_policy("gp-ucb-scaled"), "gp-ucb", "scaled β"),
        run("lw-ucb (pulls)", Policy(LWUCB(kappa, components), pulls), saved, over_pulls),
        run("v-ucb (pulls)", Policy(VUCB(kappa), pulls), "v-ucb", over_pulls),
        run(
            "gp-ucb (scaled β, pulls)",
            Policy(GPUCB.scaled(), pulls),
            "gp-ucb",
            f"scaled β, {over_pulls}",
        ),
        run("ei (clipped, pulls)", Policy(AuthorsEI(), pulls), "ei", f"clipped, {over_pulls}"),
    ]
    if problem.name in WHEELS:
        leaking = "ratio over the jackpot's quadrant"
        variants += [
            run("lw-ucb (quadrant)", Policy(QuadrantLWUCB(kappa, components)), saved, leaking),
            run(
                "lw-ucb (quadrant, pulls)",
                Policy(QuadrantLWUCB(kappa, components), pulls),
                saved,
                f"{leaking}, {over_pulls}",
            ),
        ]
    others = [n for n in (2, 4, 6) if n != components] if problem.name in SYNTHETIC else []
    sensitivity = [
        run(f"lw-ucb n_GMM={n}", Policy(LWUCB(kappa, n)), f"lw-ucb-gmm{n}") for n in others
    ]
    return Experiment(problem.name, problem, runs, tuple(sensitivity), tuple(variants))
