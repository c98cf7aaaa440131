/** The ticks of cron schedules. */
import { assert, describe, it } from "@effect/vitest"
import { Cron, DateTime, Duration, Effect, Schema } from "effect"
import * as CronSchedule from "../src/CronSchedule.ts"
import { dueTicks, untilNext } from "../src/internal/ticks.ts"
import * as JobKind from "../src/JobKind.ts"
import { suite } from "./CronScheduleContract.ts"
import { memory } from "./Fixture.ts"

suite("memory", memory)

const kind = JobKind.make({ name: "report", payload: Schema.Struct({ at: Schema.DateTimeUtcFromString }) })

const make = (options: Partial<Parameters<typeof CronSchedule.make<{ readonly at: DateTime.Utc }>>[0]>) =>
  CronSchedule.make({
    name: "nightly",
    cron: "0 3 * * *",
    lane: "reports",
    group: "reports",
    cap: 1,
    kind,
    payload: (at) => ({ at }),
    ...options
  })

const utc = (text: string) => DateTime.makeUnsafe(text)

const iso = (ticks: ReadonlyArray<DateTime.Utc> = []) => ticks.map(DateTime.formatIso)

/** The ticks between two times. */
const ticksOf = (options: Parameters<typeof make>[0], from: string, to: string) =>
  iso(dueTicks(make({ catchUp: 100, ...options }), utc(from), utc(to))?.ticks)

describe("the clocks of Berlin", () => {
  const timeZone = "Europe/Berlin"

  it("a daily tick keeps its local time", () => {
    assert.deepStrictEqual(ticksOf({ timeZone }, "2026-03-27T12:00Z", "2026-03-30T12:00Z"), [
      "2026-03-28T02:00:00.000Z",
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T01:00:00.000Z"
    ])
  })

  it("a tick whose local time is skipped in spring happens once, after the gap", () => {
    // 02:30 does not exist on the 29th: at 01:00Z the clocks go from 02:00 to 03:00.
    assert.deepStrictEqual(ticksOf({ timeZone, cron: "30 2 * * *" }, "2026-03-28T12:00Z", "2026-03-30T12:00Z"), [
      "2026-03-29T01:30:00.000Z",
      "2026-03-30T00:30:00.000Z"
    ])
  })

  it("a tick whose local time comes twice in autumn happens once, or twice if the Cron says so", () => {
    const cron = "30 2 * * *"
    const [from, to] = ["2026-10-24T12:00Z", "2026-10-26T12:00Z"] as const
    const [once, again, next] = ["2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z", "2026-10-26T01:30:00.000Z"]
    assert.deepStrictEqual(ticksOf({ timeZone, cron }, from, to), [once, next])
    const both = Cron.parseUnsafe(cron, timeZone, { onDstOverlap: "both" })
    assert.deepStrictEqual(ticksOf({ cron: both }, from, to), [once, again, next])
  })

  it("an interval pauses for the hour that comes twice, and in UTC it is the same in every hour", () => {
    const local = ticksOf({ timeZone, cron: "*/15 * * * *" }, "2026-10-25T00:00Z", "2026-10-25T03:00Z")
    assert.deepStrictEqual(local.slice(2, 4), ["2026-10-25T00:45:00.000Z", "2026-10-25T02:00:00.000Z"])
    assert.strictEqual(ticksOf({ cron: "*/15 * * * *" }, "2026-10-25T00:00Z", "2026-10-25T03:00Z").length, 12)
  })
})

const Expression = Schema.Literals([
  "* * * * *",
  "*/7 * * * *",
  "30 2 * * *",
  "15 1-3 * * 0,3",
  "0 0 1 * *",
  "0 12 13 * 5"
])

const Zone = Schema.Literals(["UTC", "Europe/Berlin", "America/New_York", "+05:30"])

const Few = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

it.effect.prop(
  "the newest due ticks are the last ones of all that are counted one by one",
  // Days around the changes of the clocks of 2026, and a downtime of up to 20 hours.
  [Expression, Zone, Schema.Literals(["03-29", "10-25", "03-08", "11-01"]), Few(-100, 100), Few(0, 1_200), Few(1, 100)],
  ([expression, timeZone, day, hour, minutes, catchUp]) =>
    Effect.sync(() => {
      const schedule = make({ cron: expression, timeZone, catchUp })
      const after = DateTime.addDuration(utc(`2026-${day}T02:17:23.456Z`), Duration.hours(hour))
      const now = DateTime.addDuration(after, Duration.minutes(minutes))
      const all: Array<Date> = []
      for (let tick = Cron.next(schedule.cron, after); tick <= DateTime.toDate(now);) {
        all.push(tick)
        tick = Cron.next(schedule.cron, tick)
      }
      const due = dueTicks(schedule, after, now)
      assert.deepStrictEqual(iso(due?.ticks), all.slice(-catchUp).map((tick) => tick.toISOString()))
      assert.deepStrictEqual(due?.last, all.length === 0 ? undefined : DateTime.makeUnsafe(all.at(-1)!))
      const next = DateTime.addDuration(now, untilNext(schedule, now))
      assert.deepStrictEqual(DateTime.toDate(next), Cron.next(schedule.cron, now))
    }),
  { arbitrary: { runs: 150 } }
)

it("finds the last ticks of a downtime of ten years without counting all", () => {
  const due = dueTicks(make({ cron: "* * * * *", catchUp: 2 }), utc("2016-01-01T00:00Z"), utc("2026-01-01T00:00:30Z"))
  assert.deepStrictEqual(iso(due?.ticks), ["2025-12-31T23:59:00.000Z", "2026-01-01T00:00:00.000Z"])
})

it("rejects schedules that have no ticks, several per minute, or an unclear time", () => {
  const invalid: ReadonlyArray<readonly [Parameters<typeof make>[0], RegExp]> = [
    [{ cron: "61 * * * *" }, /./],
    [{ cron: "hourly" }, /segments/],
    [{ cron: "0 0 30 2 *" }, /Unable to find/],
    [{ cron: "*/30 * * * * *" }, /only one tick per minute/],
    [{ cron: "* * * * * *" }, /only one tick per minute/],
    [{ timeZone: "Mars/Olympus" }, /time zone/],
    [{ cron: Cron.parseUnsafe("0 3 * * *") }, /needs a time zone/],
    [{ cron: Cron.parseUnsafe("0 3 * * *", "UTC"), timeZone: "UTC" }, /its own time zone/],
    [{ catchUp: 0 }, /catchUp/],
    [{ catchUp: 101 }, /catchUp/],
    [{ catchUp: 1.5 }, /catchUp/],
    [{ name: "" }, /1 to 128/],
    [{ name: "x".repeat(129) }, /1 to 128/]
  ]
  for (const [options, message] of invalid) assert.throws(() => make(options), message)
  assert.doesNotThrow(() => make({ cron: "30 0 3 * * *", name: "x".repeat(128), catchUp: 100 }))
})
