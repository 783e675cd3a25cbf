"""The steps of clients: programs with a token of a person store and send text that they may have
read in a repository.

Every world has repositories that not everybody may read, so each text of a client may be from one,
unless its person is from outside.
"""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from gateway.errors import BadInput, NotFound
from gateway.immutable import replace
from gateway.ports.memory import Caller
from memory.agents.model import HandoffContext, RegistryCapacityError, SharedScope
from memory.model.outcome import Outcome
from memory.model.record import Draft, Kind, Scope
from memory.service.handle import MemoryHandle
from memory.write.statement import ExternalText
from tests.memory.isolation.base import picks, scopes
from tests.memory.isolation.handing import LASTS, Handed, Handing
from tests.memory.isolation.model import Scene
from tests.memory.isolation.sharing import homes


class Clients(Handing):
    """Clients write."""

    def client_of(self, scene: Scene) -> tuple[Caller, MemoryHandle]:
        caller = self.caller(scene, client=True)
        handle = self.do(self.rig.memory.for_principal(caller))
        assert handle.request.from_repository is not scene.outside
        return caller, handle

    @rule(scene=homes, scope=scopes, waits=st.booleans())
    def store_by_client(self, scene: Scene, scope: Scope, waits: bool) -> None:
        """A client stores a text, or proposes it."""
        if scene.outside:
            return
        word = self.word()
        caller, handle = self.client_of(scene)
        draft = Draft(f"{word} lies on the shelf", Kind.FACT, scope=scope)
        external = ExternalText()
        external.any = True
        wanted = handle.write.infer(draft, external) if waits else handle.write.remember(draft)
        result = self.do(wanted)
        if scope is not Scope.USER:
            assert result.outcome is Outcome.REFUSED, "a client wrote for others"
            self.reach("a client was refused: a wider scope")
            return
        before = len(self.world.held)
        self.note(scene, caller, word, result, scope, confirmed=False)
        for place in range(before, len(self.world.held)):
            self.world.held[place] = replace(self.world.held[place], confined=True)
        if result.outcome is Outcome.STORED:
            self.reach("a client stored for its person")
            if scene.who in self.world.open_hearted:
                self.reach("a person allowed a room what a client stored")
        elif result.outcome is Outcome.REVIEW:
            self.reach("a client proposed to its person")

    @rule(scene=homes, document=st.sampled_from(("soul", "bible")))
    def rewrite_by_client(self, scene: Scene, document: str) -> None:
        """A client writes a document."""
        if scene.outside:
            return
        _, handle = self.client_of(scene)
        name = "soul" if document == "soul" else "bible"
        try:
            self.do(handle.documents.write("soul" if name == "soul" else "bible", self.word()))
        except BadInput:
            self.reach("a client was refused: a document")
            return
        raise AssertionError("a client wrote a document")

    @rule(agent=picks, pool=picks, memory=picks)
    def share_by_client(self, agent: int, pool: int, memory: int) -> None:
        """A client shares what a client stored, in a pool in which it may share."""
        held, one = self.agent(agent), self.pool(pool)
        confined = [each for each in self.world.held if each.confined and each.what == "memory"]
        if held is None or one is None or not confined or held.scene.outside:
            return
        word = confined[memory % len(confined)]
        _, handle = self.client_of(held.scene)
        try:
            done = self.do(
                self.pool_registry.share_memory(
                    handle.request, one.id, word.id, held.id, SharedScope.AGENT_PRIVATE
                )
            )
        except (BadInput, NotFound):
            self.reach("a client was refused: a share")
            return
        assert not done, "a client shared what it may have read in a repository"

    @rule(agent=picks, share=picks)
    def update_by_client(self, agent: int, share: int) -> None:
        """A client gives a shared memory another text."""
        held, alive = self.agent(agent), list(self.shared.alive())
        if held is None or not alive or held.scene.outside:
            return
        there = alive[share % len(alive)]
        memory = next(one for one in self.world.held if one.word == there.word)
        _, handle = self.client_of(held.scene)
        version = self.version_of(there)
        try:
            self.do(
                self.pool_registry.update_shared(
                    handle.request, there.pool, memory.id, held.id, version, self.word()
                )
            )
        except (BadInput, NotFound):
            self.reach("a client was refused: a shared text")
            return
        raise AssertionError("a client gave a shared memory a text")

    @rule(source=picks, home=homes)
    def hand_over_by_client(self, source: int, home: Scene) -> None:
        """A client hands a task to a person."""
        giver = self.agent(source)
        if giver is None or giver.scene.outside:
            return
        self.request_of(home)
        _, handle = self.client_of(giver.scene)
        word = self.word()
        context = HandoffContext(f"Find out about {word}")
        own = home.who in self.world.same(giver.who)
        try:
            handoff = self.do(
                self.handoffs.initiate_handoff(handle.request, giver.id, self.person(home), context)
            )
        except BadInput:
            assert not own, "a task to the person themselves was refused"
            self.reach("a client was refused: a handoff")
            return
        except RegistryCapacityError:
            assert own
            return
        assert own, "a client handed a task to somebody else"
        assert handoff is not None
        until = self.rig.clock.now() + LASTS
        self.hand(Handed(handoff.id, word, giver.id, "", giver.who, home.who, "pending", until))
        self.reach("a client handed over to its person")

    @rule(pick=picks)
    def complete_by_client(self, pick: int) -> None:
        """A client completes a task of another person's agent with a text."""
        some = [one for one in self.handed.values() if one.target in self.shared.agents]
        if not some:
            return
        handed = some[pick % len(some)]
        taker = self.shared.agents[handed.target]
        others = handed.giver not in self.world.same(taker.who)
        if taker.scene.outside or not others:
            return
        _, handle = self.client_of(taker.scene)
        try:
            self.do(
                self.handoffs.complete_handoff(
                    handle.request, handed.id, taker.id, {"text": self.word()}
                )
            )
        except BadInput:
            self.reach("a client was refused: a result")
            return
        except NotFound:
            return
        raise AssertionError("a client wrote a text to another person's agent")
