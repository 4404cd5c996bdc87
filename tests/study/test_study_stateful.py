"""Whatever happens to a study, in whichever store: it is what happens to a Bandit."""

import tempfile
from pathlib import Path

import numpy as np
from bandit_study import ARMS
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from store_kinds import KINDS, emptied, opened

import windfall as wf
from windfall.errors import InputError

ARM = st.integers(0, 5)  # few, so that they meet
REWARD = st.floats(-1e3, 1e3)
PLACE = st.integers(0, 99)


class Studies(RuleBasedStateMachine):
    """A Bandit, and studies in each store with two handles that take turns."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        folder = Path(self.folder.name)
        self.stores = [opened(emptied(kind), folder) for kind in KINDS]
        # As many initial choices as there are arms: none needs a model, which would be slow.
        self.bandit = wf.Bandit(ARMS, "mean", seed=4, initial=len(ARMS))
        for store in self.stores:
            wf.Study("alloy", ARMS, "mean", store=store, seed=4, initial=len(ARMS))
        self.handles = [[wf.Study("alloy", store=s) for _ in range(2)] for s in self.stores]
        self.turn = 0

    def teardown(self):
        self.look()
        for store in self.stores:
            store.close()
        self.folder.cleanup()

    def all(self, call):
        """Do it to the bandit and to every study; all must answer alike."""
        self.turn += 1
        one_of_each = [pair[self.turn % 2] for pair in self.handles]
        answers = [_answer(call, s) for s in (self.bandit, *one_of_each)]
        assert all(answer == answers[0] for answer in answers), answers

    @rule()
    def ask(self):
        self.all(lambda s: s.ask())

    @rule(n=st.integers(1, 2))
    def ask_for(self, n):
        self.all(lambda s: [(choice, choice.id) for choice in s.ask(n)])

    @rule(arm=ARM, reward=REWARD)
    def tell(self, arm, reward):
        self.all(lambda s: s.tell(arm, reward))

    @rule(reward=REWARD)
    def tell_what_was_asked(self, reward):
        self.all(lambda s: s.tell(s.ask(), reward))

    @rule(place=PLACE, reward=REWARD)
    def tell_pending(self, place, reward):
        self.all(lambda s: s.pending and s.tell(s.pending[place % len(s.pending)], reward))

    @rule(place=PLACE)
    def fail_pending(self, place):
        self.all(lambda s: s.pending and s.fail(s.pending[place % len(s.pending)]))

    @rule(arm=ARM)
    def fail(self, arm):
        self.all(lambda s: s.fail(arm))

    @rule(arm=ARM)
    def forget(self, arm):
        self.all(lambda s: s.forget(arm))

    @rule(place=PLACE)
    def forget_pending(self, place):
        self.all(lambda s: s.pending and s.forget(s.pending[place % len(s.pending)]))

    @rule(place=PLACE)
    def open_again(self, place):
        which = place % len(self.stores)
        self.handles[which][place % 2] = wf.Study("alloy", store=self.stores[which])

    @rule(place=PLACE)
    def read(self, place):
        """Reading and remarking change nothing."""
        study = self.handles[place % len(self.stores)][place % 2]
        before = study.history()
        for look in (lambda s: s.pulls, lambda s: s.failed, lambda s: s.best):
            _answer(look, study)
        assert study.history() == before
        study.note("looked")

    @rule()
    def look(self):
        for look in (
            lambda s: s.rewards,
            lambda s: [(choice, choice.id) for choice in s.pending],
            lambda s: s.failed,
            lambda s: s.best,
            lambda s: np.asarray(s.pulls).tolist(),
        ):
            self.all(look)


def _answer(call, study):
    try:
        return call(study)
    except InputError as error:
        return str(error)


TestStudies = Studies.TestCase
TestStudies.settings = settings(max_examples=15, stateful_step_count=25)
