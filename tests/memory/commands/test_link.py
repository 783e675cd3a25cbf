"""`/link`: both sides see each other's account, and both confirm."""

import pytest

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience
from gateway.ports.memory import Caller
from memory.commands.link import expired
from memory.service.links import LINK_VALID
from tests.memory.rig import (
    DIRECT,
    ROOM,
    EnglishNotice,
    EnglishReply,
    Rig,
    memory_rig,
    notice_in_english,
)

DISCORD = Place("discord", "main", "dm", Audience.DIRECT)
SLACK = Place("slack", "second", "dm", Audience.DIRECT)


class Talk:
    """One person in their direct conversation."""

    def __init__(self, rig: Rig, name: str, place: Place) -> None:
        self.rig, self.name, self.place = rig, name, place

    @property
    def caller(self) -> Caller:
        return self.rig.caller(self.name, at=self.place)

    @property
    def person(self) -> str:
        return str(self.caller.principal.person)

    async def say(self, line: str) -> EnglishReply:
        command, _, arguments = line.removeprefix("/").partition(" ")
        return await self.rig.commands.run(command, arguments, self.caller)

    async def press(self, under: EnglishReply | EnglishNotice, label: str) -> EnglishReply:
        value = next(b.value for b in under.buttons if b.label.startswith(label))
        assert len(value.encode()) <= 64
        assert self.rig.commands.owns(value)
        return await self.rig.commands.press(value, self.caller)

    async def knows(self, word: str) -> bool:
        return word in (await self.say("/memories")).markdown

    def notice(self, reply: EnglishReply) -> EnglishNotice:
        """Return the notice to this person about somebody else's answer, in their direct
        conversation."""
        (notice,) = [one for one in reply.notices if one.person == self.person]
        assert notice.place == self.caller.place
        return notice


def talks(rig: Rig) -> tuple[Talk, Talk]:
    return Talk(rig, "ada", DIRECT), Talk(rig, "bob", DISCORD)


async def code_of(talk: Talk) -> str:
    return str((await talk.say("/link")).markdown.rsplit("/link ", 1)[1].split("`")[0])


async def entered(ada: Talk, bob: Talk) -> EnglishReply:
    """Ada's code is entered by Bob."""
    return await bob.say(f"/link {await code_of(ada)}")


async def linked(ada: Talk, bob: Talk) -> EnglishReply:
    agreed = await bob.press(await entered(ada, bob), "Yes")
    return await ada.press(ada.notice(agreed), "Yes")


async def test_both_accounts_see_the_other_confirm_and_are_told() -> None:
    async with memory_rig() as rig:
        ada, bob = talks(rig)
        await ada.say("/remember I prefer tabs")
        request = await entered(ada, bob)
        for shown in ("Platform: Telegram", "“Ada”", "`ada`", "can see, use, change and delete"):
            assert shown in request.markdown
        assert request.notices == ()
        assert not await bob.knows("tabs")
        agreed = await bob.press(request, "Yes")
        assert "Nothing is shared unless" in agreed.markdown
        assert not await bob.knows("tabs")
        question = ada.notice(agreed)
        for shown in ("Platform: Discord", "“Bob”", "`bob`", "can see, use, change and delete"):
            assert shown in question.markdown
        done = await ada.press(question, "Yes")
        for text in (done.markdown, bob.notice(done).markdown):
            assert "Linked since 20" in text
            assert "`ada`" in text
            assert "`bob`" in text
            assert "/link off" in text
        assert await bob.knows("tabs")
        assert "Telegram, “Ada”" in (await bob.say("/link")).markdown


async def test_every_step_works_with_typed_commands() -> None:
    async with memory_rig() as rig:
        ada, bob = talks(rig)
        question = await entered(ada, bob)
        typed = question.markdown.split("`/link confirm ")[1].split("`")[0]
        agreed = await bob.say(f"/link confirm {typed.upper()}")
        assert f"/link confirm {typed}" in ada.notice(agreed).markdown
        assert (await ada.say("/link")).buttons == ada.notice(agreed).buttons
        assert "Linked" in (await ada.say(f"/link confirm {typed}")).markdown


async def test_entering_a_code_links_nobody() -> None:
    async with memory_rig() as rig:
        ada, bob = talks(rig)
        await ada.say("/remember I prefer tabs")
        await bob.say("/remember I live in Rome")
        await entered(ada, bob)
        assert not await ada.knows("Rome")
        assert not await bob.knows("tabs")
        assert "has not confirmed yet" in (await ada.say("/link")).markdown


@pytest.mark.parametrize("refuses", ["redeemer", "maker", "typed"])
async def test_a_refusal_ends_the_request_and_the_other_account_is_told_without_a_reason(
    refuses: str,
) -> None:
    async with memory_rig() as rig:
        ada, bob = talks(rig)
        request = await entered(ada, bob)
        if refuses == "redeemer":
            ended, answer = await bob.press(request, "No"), ada
        else:
            question = ada.notice(await bob.press(request, "Yes"))
            typed = refuses == "typed"
            ended = await (ada.say("/link cancel") if typed else ada.press(question, "No"))
            answer = bob
        assert "Nothing new is linked" in ended.markdown
        notice = answer.notice(ended).markdown
        assert "was not completed" in notice
        assert "refused" not in notice
        for talk in (ada, bob):
            with pytest.raises(BadInput, match="No link waits"):
                await talk.press(request, "Yes")


async def test_presses_of_strangers_and_repeated_presses_have_no_effect() -> None:
    async with memory_rig() as rig:
        ada, bob = talks(rig)
        eve = Talk(rig, "eve", DISCORD)
        await ada.say("/remember I prefer tabs")
        request = await entered(ada, bob)
        question = ada.notice(await bob.press(request, "Yes"))
        for under in (request, question):
            for label in ("Yes", "No"):
                with pytest.raises(BadInput, match="No link waits"):
                    await eve.press(under, label)
        for _ in range(3):
            assert "You have confirmed" in (await bob.press(question, "Yes")).markdown
        assert not await bob.knows("tabs")
        await ada.press(question, "Yes")
        await ada.say("/link off")
        for talk in (ada, bob):
            with pytest.raises(BadInput, match="No link waits"):
                await talk.press(question, "Yes")
        assert not await bob.knows("tabs")


async def test_an_expired_confirmation_ends_the_request_and_both_are_told() -> None:
    async with memory_rig() as rig:
        ada, bob = talks(rig)
        question = ada.notice(await bob.press(await entered(ada, bob), "Yes"))
        await rig.clock.advance(LINK_VALID.total_seconds())
        with pytest.raises(BadInput, match="No link waits"):
            await ada.press(question, "Yes")
        (request,) = await rig.links.expire()
        notices = expired(request)
        assert {notice.person for notice in notices} == {ada.person, bob.person}
        assert all("was not completed" in notice_in_english(notice).markdown for notice in notices)
        await code_of(ada)
        await rig.clock.advance(LINK_VALID.total_seconds())
        (offered,) = await rig.links.expire()
        assert expired(offered) == ()


async def test_two_people_with_the_same_bot_are_never_linked() -> None:
    async with memory_rig() as rig:
        ada, bob = talks(rig)
        neighbour = Talk(rig, "eve", DIRECT)
        code = await code_of(ada)
        with pytest.raises(BadInput, match="different platforms only"):
            await neighbour.say(f"/link {code}")
        with pytest.raises(BadInput, match="not valid"):
            await bob.say(f"/link {code}")
        await linked(ada, bob)
        with pytest.raises(BadInput, match="different platforms only"):
            await entered(bob, neighbour)


async def test_a_new_account_sees_the_whole_group_and_the_group_is_told() -> None:
    async with memory_rig() as rig:
        ada, bob = talks(rig)
        cleo = Talk(rig, "cleo", SLACK)
        await linked(ada, bob)
        question = await entered(bob, cleo)
        assert "linked already" in question.markdown
        assert "Telegram, “Ada”" in question.markdown
        done = await bob.press(bob.notice(await cleo.press(question, "Yes")), "Yes")
        assert "Slack (account second)" in ada.notice(done).markdown
        assert "Slack (account second)" in cleo.notice(done).markdown


async def test_leaving_tells_all_accounts_and_each_keeps_its_memories() -> None:
    async with memory_rig() as rig:
        ada, bob = talks(rig)
        await ada.say("/remember I prefer tabs")
        await linked(ada, bob)
        await bob.say("/remember I live in Rome")
        assert await ada.knows("Rome")
        left = await bob.say("/link off")
        assert "separated from" in left.markdown
        assert "no longer linked with Discord, “Bob”" in ada.notice(left).markdown
        assert (await ada.knows("tabs"), await ada.knows("Rome")) == (True, False)
        assert (await bob.knows("tabs"), await bob.knows("Rome")) == (False, True)
        assert "not linked" in (await bob.say("/link off")).markdown


async def test_a_person_has_one_open_request() -> None:
    async with memory_rig() as rig:
        ada, bob = talks(rig)
        cleo = Talk(rig, "cleo", SLACK)
        code = await code_of(cleo)
        await entered(ada, bob)
        for talk in (ada, bob):
            with pytest.raises(BadInput, match="Another link waits"):
                await talk.say(f"/link {code}")
        await bob.say("/link cancel")
        assert "“Cleo”" in (await bob.say(f"/link {code}")).markdown


async def test_linking_works_in_direct_messages_only() -> None:
    async with memory_rig() as rig:
        ada, bob = talks(rig)
        question = await entered(ada, bob)
        for line in ("/link", "/link off", "/link cancel", "/link confirm x", "/link AAAA"):
            with pytest.raises(BadInput, match="direct message"):
                await Talk(rig, "bob", ROOM).say(line)
        with pytest.raises(BadInput, match="direct message"):
            await Talk(rig, "bob", ROOM).press(question, "Yes")


async def test_an_own_code_and_an_existing_link_are_reported() -> None:
    async with memory_rig() as rig:
        ada, bob = talks(rig)
        code = await code_of(ada)
        with pytest.raises(BadInput, match="your own code"):
            await ada.say(f"/link {code}")
        await linked(ada, bob)
        with pytest.raises(BadInput, match="linked already"):
            await entered(ada, bob)
        with pytest.raises(BadInput, match="No link waits"):
            await ada.say("/link confirm")


async def test_a_hostile_name_is_shown_as_a_name() -> None:
    async with memory_rig() as rig:
        ada, bob = talks(rig)
        caller = replace(bob.caller, name="\u202e**Ada**\n- Platform: `Telegram`\u2066")
        code = await code_of(ada)
        await rig.commands.run("link", code, caller)
        shown = (await ada.say("/link")).markdown
        assert "\n- Platform" not in shown
        assert "\u202e" not in shown
        assert "\\*\\*Ada\\*\\*" in shown


async def test_erase_applies_to_one_account_and_asks_the_others() -> None:
    async with memory_rig() as rig:
        ada, bob = talks(rig)
        await ada.say("/remember I prefer tabs")
        await bob.say("/remember I live in Rome")
        await linked(ada, bob)
        reply = await ada.say("/privacy erase")
        assert "keep their own data" in reply.markdown
        assert "Discord, “Bob”" in reply.markdown
        surely = await ada.press(reply, "Erase")
        done = await ada.press(surely, "Yes")
        assert "erased" in done.markdown
        assert not await ada.knows("tabs")
        assert not await ada.knows("Rome")
        assert await bob.knows("Rome")
        assert not await bob.knows("tabs")
        notice = bob.notice(done)
        assert "Telegram, “Ada”" in notice.markdown
        assert (await ada.press(notice, "Erase")).markdown.startswith(
            "Only the person who was asked"
        )
        assert await bob.knows("Rome")
        await rig.clock.advance(3600)
        surely = await bob.press(notice, "Erase")
        await bob.press(surely, "Yes")
        assert not await bob.knows("Rome")
        assert "not linked" in (await bob.say("/link off")).markdown


async def test_erase_without_linked_accounts_asks_nobody_else() -> None:
    async with memory_rig() as rig:
        ada, _ = talks(rig)
        surely = await ada.press(await ada.say("/privacy erase"), "Erase")
        assert (await ada.press(surely, "Yes")).notices == ()
