"""The grammar of times in questions: "yesterday evening", "on 10 November", "since Tuesday".

One grammar serves all languages: the tables of `time_words` tell what a word means and on which
side of a time it stands. Each sign is read a bounded number of times.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from gateway.immutable import replace
from memory.recall.calendar_spans import Around, Span, part_of
from memory.recall.time_counts import CountReader, FoundTime, Kind, kind_of
from memory.recall.time_words import UNSPACED, Sign, Words, signs_of

MAX_FOUND: Final = 8
MONTH_FIRST: Final = frozenset({"en"})
"""Languages that write 11/10 for 10 November."""
_ENDS: Final = frozenset('?!.;:,？！。、，；：؟،।"»)')
_GENITIVES: Final = frozenset({"の", "的", "의"})
_COUNTERS: Final = frozenset({"个", "個"})
MAX_RANK: Final = 5
"""A month has at most five of a weekday."""
_RANKS: Final = frozenset({"第", "제"})
"""Signs in front of the number of an ordinal."""
_NOTHING: Final = Sign("", 0, 0)
_ON: Final = Sign("", 0, 0, {"on": 0})
_BETWEEN: Final = Sign("", 0, 0, {"between": 0})


def times_in(text: str, words: Words, around: Around) -> tuple[Sequence[FoundTime], Sequence[Sign]]:
    """Return the past and present times that a question names, at most 8, and its signs."""
    signs = signs_of(text, words)
    if not any(one.means or one.written or one.number >= 0 for one in signs):
        return (), signs
    return tuple(_Reader(signs, words, around).times()), signs


class _Reader(CountReader):
    """Reads the signs of a question."""

    def __init__(self, signs: Sequence[Sign], words: Words, around: Around) -> None:
        super().__init__(signs, words, around)
        self._unspaced = words.language in UNSPACED
        self._names_day = any(one.has("weekday", "bare") for one in signs)
        self._future = any(one.text.endswith(words.future) for one in signs)

    def times(self) -> Iterator[FoundTime]:
        place, found = 0, 0
        while place < len(self._signs) and found < MAX_FOUND:
            time, place = self._at(place)
            if time is not None and time.span[0] <= self._around.now:
                found += 1
                yield time

    def _at(self, place: int) -> tuple[FoundTime | None, int]:
        """Return the time that begins here, and the place to go on from."""
        sign = self._sign(place)
        if sign.has("name") or not (sign.means or sign.number >= 0 or sign.written):
            return None, place + 1
        if sign.has("every"):
            return None, self._habit(place + 1)
        if found := self._counted(place) or self._range(place):
            return self._finished(found, place, since=False)
        if sign.has("since", "from", "between", "in", "on"):
            after = self._over(place + 1, "skip", "on", "in")
            for begin in dict.fromkeys((place + 1, after)):
                if found := self._range(begin):
                    return self._finished(found, place, since=False)
                if found := self._single(begin, sign):
                    return self._finished(found, place, since=sign.has("since"))
        if found := self._single(place, _NOTHING):
            return self._finished(found, place, since=False)
        return None, place + 1

    def _habit(self, place: int) -> int:
        """Return the place behind what is said of every week or month."""
        end = self._over(place, "skip", "rank", "last", "weekday", "unit", "monthmark", "part")
        behind = self._over(end + (self._sign(end).text in _GENITIVES), "skip", "in_after")
        _, rank, last = self._ranked(behind)
        return last if rank else end

    def _finished(self, found: FoundTime, place: int, *, since: bool) -> tuple[FoundTime, int]:
        """Return a time with what stands behind it: since, in, on."""
        end = found.last
        behind = self._over(end, "skip", "on_after", "in_after")
        joint, second = self._sign(behind), None
        if joint.has("joint") or joint.text in ("-", "~"):
            second = self._second(self._over(behind + 1, "skip", "on", "in"), found)
        if second is not None and found.span[0] < second.span[1]:
            span, kind = (found.span[0], second.span[1]), max(found.kind, second.kind)
            end = self._over(second.last, "between_after", "in_after")
            return FoundTime(span, kind, place, end), end
        if since or joint.has("since_after"):
            end = behind + 1 if joint.has("since_after") else end
            span = found.span[0], max(self._around.now, found.span[0])
            return FoundTime(span, Kind.PAST, place, end), end
        return replace(found, first=place), max(end, place + 1)

    def _second(self, place: int, first: FoundTime) -> FoundTime | None:
        """Return the second time of a range: a whole one, or a day of the same month."""
        second = self._single(place, _BETWEEN)
        if second is not None:
            if second.span[0] < first.span[0] and second.kind is Kind.WEEKDAY:
                return None
            return second
        sign = self._sign(place)
        if first.day and 1 <= sign.number <= 31 and not self._sign(place + 1).has("unit"):
            at = self._around.date(first.span[0].year, first.month, sign.number)
            return None if at is None else FoundTime(at, Kind.DATE, place, place + 1)
        return None

    def _range(self, place: int) -> FoundTime | None:
        """Read "3 to 10 November": the first day has the month of the second."""
        first = self._sign(place)
        if not 1 <= first.number <= 31:
            return None
        at = place + 1
        if self._sign(at).text == ".":
            at += 1
        joint = self._sign(at)
        if not (joint.has("joint") or joint.text == "-"):
            return None
        begin = self._over(at + 1, "skip", "on")
        second = self._single(begin, _ON)
        if second is None or not (second.day and second.month):
            return None
        begun = self._around.date(second.span[0].year, second.month, first.number)
        if begun is None or begun[0] >= second.span[1]:
            return None
        end = self._over(second.last, "between_after")
        return FoundTime((begun[0], second.span[1]), Kind.DATE, place, end)

    # --- single times ---------------------------------------------------------------------------

    def _single(self, place: int, before: Sign) -> FoundTime | None:
        """Read one time; `before` is the word in front of it."""
        return (
            self._relative_day(place)
            or self._weekday_of_month(place)
            or self._date(place, before)
            or self._modified(place)
            or self._relative_unit(place)
            or self._weekday(place, before)
        )

    def _relative_day(self, place: int) -> FoundTime | None:
        sign = self._sign(place)
        daypart, day = sign.means.get("daypart"), sign.means.get("day")
        if isinstance(daypart, tuple):
            span = self._around.part(*daypart)
            kind = Kind.PAST
            return None if span is None else FoundTime(span, kind, place, place + 1)
        if not isinstance(day, int):
            return None
        if day < 0 and self._future:
            day = -day
        span = self._around.day(day)
        if span is None:
            return None
        kind = Kind.PRESENT if day == 0 else Kind.PAST
        return self._with_part(FoundTime(span, kind, place, place + 1))

    def _with_part(self, found: FoundTime) -> FoundTime:
        """Return a day, or the part of it that is named behind it."""
        place = self._over(found.last, "skip", "in", "on")
        for at in (found.last, place):
            part = self._sign(at).means.get("part")
            if isinstance(part, tuple):
                span = part_of(found.span, part[1])
                return replace(found, span=span, kind=max(found.kind, Kind.WEEKDAY), last=at + 1)
        return found

    def _modified(self, place: int) -> FoundTime | None:
        """Read "last week", "lundi dernier", "this morning"."""
        sign = self._sign(place)
        begin = self._over(place, "last", "this", "next")
        begin = self._over(begin, "skip") if begin > place else begin
        target = self._sign(begin)
        if not target.has("unit", "weekday", "named", "part"):
            return None
        end = begin + 1
        modifier, behind = sign if begin > place else _NOTHING, self._over(end, "skip", "on_after")
        if not modifier.has("last", "this", "next"):
            for at in dict.fromkeys((end, behind)):
                if self._sign(at).has("last", "this", "next"):
                    modifier, end = self._sign(at), at + 1
        if modifier.has("next") or not modifier.has("last", "this"):
            return None
        span = self._counted_from_now(target, last=modifier.has("last"))
        if span is None:
            return None
        past = modifier.has("last") or target.has("part")
        unit = target.means.get("unit")
        kind = kind_of(unit[1] if isinstance(unit, tuple) else "") if past else Kind.PRESENT
        found = FoundTime(span, kind, place, end)
        if target.has("weekday"):
            return self._with_part(found)
        return self._within(found, target) if target.has("unit") else found

    def _counted_from_now(self, target: Sign, *, last: bool) -> Span | None:
        around = self._around
        for meaning in ("weekday", "named", "part", "unit"):
            value = target.means.get(meaning)
            if meaning == "weekday" and isinstance(value, int):
                week = around.week(-1 if last and self._unspaced else 0)
                if last and not self._unspaced:
                    return around.weekday(value)
                return None if week is None else around.weekday_of(week, value)
            if meaning == "named" and isinstance(value, int):
                before = last and value == around.now.month
                return (
                    around.named_month(around.now.year - 1, value)
                    if before
                    else around.latest_month(value)
                )
            if meaning == "part" and isinstance(value, tuple):
                night = value[1] == "night"
                return around.part(-1 if last or night else 0, value[1])
            if meaning == "unit" and isinstance(value, tuple):
                return around.unit(value[1], -1 if last else 0)
        return None

    def _relative_unit(self, place: int) -> FoundTime | None:
        """Read one word or phrase for a week, month or year: 先週, last week."""
        sign, around = self._sign(place), self._around
        for unit in ("week", "month", "year"):
            offset = sign.means.get(unit)
            if isinstance(offset, int):
                span = around.unit(unit, offset)
                if span is None:
                    return None
                kind = kind_of(unit) if offset else Kind.PRESENT
                target = Sign("", 0, 0, {"unit": (0, unit)})
                return self._within(FoundTime(span, kind, place, place + 1), target)
        if sign.has("unit") and sign.means["unit"] == (0, "weekend"):
            span = around.weekend(0 if around.now.weekday() >= 5 else -1)
            on = self._sign(place - 1).has("on", "in", "skip")
            return FoundTime(span, Kind.WEEKDAY, place, place + 1) if span and on else None
        return None

    def _within(self, found: FoundTime, unit: Sign) -> FoundTime:
        """Return a day of a week or a month of a year that is named behind it."""
        place = self._over(found.last, "skip", "on", "in")
        sign, name = self._sign(place), unit.means.get("unit")
        number = sign.means.get("weekday")
        if name == (0, "week"):
            if not isinstance(number, int) and self._words.language.startswith("zh"):
                plain = sign.means.get("num")
                sunday = sign.has("daymark", "day") or sign.text == "天"
                number = 6 if sunday else plain - 1 if isinstance(plain, int) else None
                place = place if place == found.last else -1
            if isinstance(number, int) and 0 <= number <= 6 and place >= 0:
                day = self._around.weekday_of(found.span, number)
                return self._with_part(replace(found, span=day, last=place + 1))
        if name == (0, "year"):
            month, end = self._month(place)
            if month and (span := self._around.named_month(found.span[0].year, month)):
                return replace(found, span=span, last=end)
        return found

    def _weekday_of_month(self, place: int) -> FoundTime | None:
        """Read "the first Sunday of the month", 10月の第2月曜日, الأحد الأول من الشهر."""
        if not self._names_day:
            return None
        number, rank, end = self._ranked(place)
        if rank:
            of = ("since",) if self._words.language == "ar" else ()  # من is also "of"
            month = self._whole_month(self._over(end, "skip", "in", "on", *of))
            end = month.last if month is not None else end
        else:
            month = self._whole_month(place)
            if month is None:
                return None
            behind = month.last + (self._sign(month.last).text in _GENITIVES)
            number, rank, end = self._ranked(self._over(behind, "skip", "in_after"))
        if month is None or not rank:
            return None
        day = self._around.weekday_in(month.span, number, rank)
        if day is not None and day[0] > self._around.now and not month.year:
            earlier = self._around.before(month.span, years=bool(month.month))
            day = self._around.weekday_in(earlier, number, rank) if earlier else None
        if day is None:
            return None
        return self._with_part(FoundTime(day, Kind.DATE, place, self._over(end, "on_after")))

    def _ranked(self, place: int) -> tuple[int, int, int]:
        """Return the number of a weekday, its rank in a month, -1 for the last one, and the place
        behind them; a rank of 0 for none."""
        sign, at = self._sign(place), place + 1
        rank = sign.means.get("rank", -1 if sign.has("last") else 0)
        if sign.ordinal or (sign.text in _RANKS and self._sign(at).number > 0):
            at += not sign.ordinal
            rank = self._sign(at - 1).number
        at += self._sign(at).text in _COUNTERS
        day = self._sign(at).means
        weekday = day.get("weekday", day.get("bare"))
        if "weekday" in sign.means and "rank" in day:
            weekday, rank = sign.means["weekday"], day["rank"]
        if isinstance(weekday, int) and isinstance(rank, int) and -1 <= rank <= MAX_RANK:
            return weekday, rank, at + 1
        return 0, 0, place

    def _whole_month(self, place: int) -> FoundTime | None:
        """Return a month: the present one for the bare word. With `year` it is certain, with
        `month` of a year."""
        named, end = self._month(place)
        if named:
            year, last = self._year_behind(end)
            of_year = None if year else self._year_named(end)
            if of_year is not None:
                year, last = of_year.span[0].year, of_year.last
            return self._dated(year, named, 0, place, last)
        found = self._modified(place) or self._relative_unit(place)
        if found is not None and 28 <= (found.span[1] - found.span[0]).days <= 31:
            return replace(found, year=found.span[0].year)
        span = self._around.month(0)
        if self._sign(place).means.get("unit") != (0, "month") or span is None:
            return None
        return FoundTime(span, Kind.DATE, place, place + 1)

    def _weekday(self, place: int, before: Sign) -> FoundTime | None:
        sign = self._sign(place)
        daypart, number = sign.means.get("weekdaypart"), sign.means.get("weekday")
        if isinstance(daypart, tuple):
            day = self._around.weekday(daypart[0])
            part = part_of(day, daypart[1]) if day is not None else None
            return None if part is None else FoundTime(part, Kind.WEEKDAY, place, place + 1)
        if not isinstance(number, int):
            return None
        end = self._over(place + 1, "on_after")
        behind, previous = self._sign(end), self._sign(place - 1)
        if behind.has("every", "next") or previous.has("every", "next"):
            return None
        comma = end + 1 if behind.text == "," else end
        date = self._date(self._over(comma, "on", "skip"), _ON)
        if date is not None and date.day:
            return replace(date, first=place)
        if end == place + 1 and not self._is_day(place, before, behind):
            return None
        week = self._modified(self._over(end, "skip", "in", "on")) or self._relative_unit(
            self._over(end, "skip", "in")
        )
        if week is not None and (week.span[1] - week.span[0]).days == 7:
            day = self._around.weekday_of(week.span, number)
            return replace(week, span=day, first=place)
        span = self._around.weekday(number)
        if span is None:
            return None
        return self._with_part(FoundTime(span, Kind.WEEKDAY, place, end))

    def _is_day(self, place: int, before: Sign, behind: Sign) -> bool:
        """Return True if the name of a weekday is a time, not a part of a name."""
        sign = self._sign(place)
        if self._unspaced or self._words.language == "ko" or sign.compound or sign.locative:
            return True
        marked = before.has("on", "since", "from", "between", "in")
        ends = not behind.text or behind.text in _ENDS
        if marked or ends or behind.has("part", "since_after", "on_after", "joint", "last", "ago"):
            return True
        begins = place == 0 and self._words.language == "tr"
        if begins or behind.has("clause"):
            return True
        possessive = self._words.language == "en" and sign.end - sign.begin > len(sign.text)
        article = self._sign(place - 1).has("skip")
        return possessive or not (behind.capital or article or self._words.language in ("en", "tr"))

    # --- dates ----------------------------------------------------------------------------------

    def _date(self, place: int, before: Sign) -> FoundTime | None:
        sign = self._sign(place)
        if sign.written is not None:
            return self._written(place, before)
        return (
            self._year_first(place)
            or self._day_month(place)
            or self._month_day(place, before)
            or self._year(place, before)
            or self._day_alone(place, before)
        )

    def _dated(self, year: int, month: int, day: int, first: int, last: int) -> FoundTime | None:
        """Return a day, month or year; a year of 0 stands for the latest."""
        around = self._around
        if day:
            span = around.date(year, month, day)
        elif month:
            span = around.named_month(year, month) if year else around.latest_month(month)
        else:
            span = around.named_year(year)
        if span is None:
            return None
        return FoundTime(span, Kind.DATE, first, last, year, month, day)

    def _written(self, place: int, before: Sign) -> FoundTime | None:
        written = self._sign(place).written
        if written is None:
            return None
        first, second, third, year_first = written
        language, text = self._words.language, self._sign(place).text
        if year_first:
            return self._dated(first, second, third, place, place + 1)
        if not third:
            dotted = "." in text
            if dotted and language in ("en", "ja", "ko", "zh_Hans", "zh_Hant"):
                return None
            if not before.has("on", "since", "from", "between"):
                return None
        month_first = "/" in text and (language in MONTH_FIRST or self._unspaced)
        orders = [(first, second), (second, first)] if month_first else [(second, first)]
        if second > 12:
            orders = [(first, second)]
        for month, day in orders:
            if found := self._dated(third, month, day, place, place + 1):
                return found
        return None

    def _year_first(self, place: int) -> FoundTime | None:
        """Read 2025年11月10日, 11月10日, 5월."""
        year, at = 0, place
        if _is_year(self._sign(at).number) and self._sign(at + 1).means.get("unit") == (0, "year"):
            year, at = self._sign(at).number, at + 2
        number = self._figure(at)
        if not 1 <= number <= 12:
            return None
        if not self._sign(at + 1).has("monthmark"):
            return None
        day = self._sign(at + 2)
        if 1 <= day.number <= 31 and self._sign(at + 3).has("daymark"):
            return self._dated(year, number, day.number, place, at + 4)
        return self._dated(year, number, 0, place, at + 2)

    def _month(self, place: int) -> tuple[int, int]:
        """Return the number of a named month, and the place behind it; 0 for none."""
        number = self._sign(place).means.get("named")
        if isinstance(number, int):
            return number, place + 1
        number = self._figure(place)
        if 1 <= number <= 12 and self._sign(place + 1).has("monthmark"):
            return number, place + 2
        return 0, place

    def _figure(self, place: int) -> int:
        """Return a number in figures or in a word, -1 for none."""
        sign = self._sign(place)
        number = sign.number if sign.number >= 0 else sign.means.get("num", -1)
        return number if isinstance(number, int) else -1

    def _day_month(self, place: int) -> FoundTime | None:
        """Read "10 November 2026", "the 3rd of April"."""
        nth, day = self._sign(place).means.get("nth"), self._sign(place).number
        day = nth if isinstance(nth, int) else day
        if not 1 <= day <= 31:
            return None
        at = place + 1
        if self._sign(at).text in (".", "-"):
            at += 1
        at = self._over(at, "skip")
        month, end = self._month(at)
        if not month or end > at + 1:
            return None
        year, end = self._year_behind(end)
        return self._dated(year, month, day, place, end)

    def _month_day(self, place: int, before: Sign) -> FoundTime | None:
        """Read "November 10", "May 2025", "in May"."""
        sign = self._sign(place)
        month, end = self._month(place)
        if not month or end > place + 1:
            return None
        after = self._over(end, "skip")
        day = self._sign(after)
        if 1 <= day.number <= 31 and not self._sign(after + 1).has("unit", "monthmark"):
            year, last = self._year_behind(after + 1)
            return self._dated(year, month, day.number, place, last)
        year, last = self._year_behind(end)
        marked = before.has("in", "since", "from", "between", "last", "this")
        marked = marked or sign.locative or (self._unspaced and sign.text.endswith("月"))
        if not (year or marked or self._sign(end).has("in_after")):
            return None
        behind = self._sign(end)
        if not year and behind.capital and behind.text != "i" and self._words.language == "en":
            return None
        of_year = None if year else self._year_named(end)
        if of_year is not None:
            year, last = of_year.span[0].year, of_year.last
        return self._dated(year, month, 0, place, last)

    def _year_named(self, place: int) -> FoundTime | None:
        """Return the year behind a month: "in October of last year"."""
        at = self._over(place, "skip", "in")
        found = self._modified(at) or self._relative_unit(at)
        year = found is not None and (found.span[1] - found.span[0]).days >= 365
        return found if year else None

    def _year_behind(self, place: int) -> tuple[int, int]:
        """Return the year behind a date, and the place behind it; 0 for none."""
        at = self._over(place + (self._sign(place).text == ","), "skip", "in")
        number = self._sign(at).number
        return (number, at + 1) if _is_year(number) else (0, place)

    def _year(self, place: int, before: Sign) -> FoundTime | None:
        sign = self._sign(place)
        if not _is_year(sign.number):
            return None
        behind = self._sign(place + 1)
        unit = behind.means.get("unit") == (0, "year")
        marked = before.has("in", "since", "from", "between")
        if not (unit or marked or behind.has("in_after")):
            return None
        return self._dated(sign.number, 0, 0, place, place + 1 + unit)

    def _day_alone(self, place: int, before: Sign) -> FoundTime | None:
        """Read "on the 10th", 10日."""
        sign = self._sign(place)
        if not 1 <= sign.number <= 31:
            return None
        behind = self._sign(place + 1)
        marked = self._unspaced or self._words.language == "ko"
        if marked and behind.has("daymark") and not self._sign(place + 2).has("ago"):
            span, end = self._around.day_of_month(sign.number), place + 2
        elif sign.ordinal and before.has("on", "since", "from", "between"):
            span, end = self._around.day_of_month(sign.number), place + 1
        else:
            return None
        if span is None:
            return None
        return FoundTime(span, Kind.DATE, place, end, day=sign.number, month=span[0].month)


def _is_year(number: int) -> bool:
    return 1900 <= number <= 2100
