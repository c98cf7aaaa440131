/** Figures of usage, filters in the URL, and checks of webhooks. */
import { assert, describe, it } from "@effect/vitest"
import { createHmac } from "node:crypto"
import { jobSearch } from "../src/pages/jobs/search.ts"
import { budgetOf, changeOf as budgetChangeOf } from "../src/pages/keys/budget.ts"
import { failureOf } from "../src/pages/sign-in/failures.ts"
import { changeOf, seriesOf, total, type UsageRow, valueOf } from "../src/pages/usage/rows.ts"
import { daysOf, lastDays, problemOf, usageSearch } from "../src/pages/usage/search.ts"
import { reasonText, urlProblem } from "../src/pages/webhooks/events.ts"
import { checkSignature } from "../src/pages/webhooks/signature.ts"

const row = (day: string, model: string, completed: number, credits: number): UsageRow => ({
  day,
  model,
  plan: credits === 0 ? "studio" : "credits",
  kind: "image",
  completed,
  failed: 1,
  cancelled: 0,
  credits
})

describe("usage", () => {
  const days = ["2026-11-22", "2026-11-23", "2026-11-24"]
  const rows = [row("2026-11-22", "b", 4, 0), row("2026-11-24", "a", 2, 6), row("2026-11-24", "b", 1, 0)]

  it("has one series per name with a value for every day", () => {
    assert.deepStrictEqual(seriesOf(rows, days, "jobs", "model"), [
      { name: "a", values: [0, 0, 3] },
      { name: "b", values: [5, 0, 2] }
    ])
    assert.deepStrictEqual(seriesOf(rows, days, "credits", "plan"), [
      { name: "Credits", values: [0, 0, 6] },
      { name: "Studio", values: [0, 0, 0] }
    ])
  })

  it("has the same total in the chart as in the rows", () => {
    const chart = seriesOf(rows, days, "jobs", "kind").flatMap(({ values }) => values).reduce(
      (sum, value) => sum + value,
      0
    )
    assert.strictEqual(chart, total(rows, (one) => valueOf(one, "jobs")))
  })

  it("compares with the period before", () => {
    assert.strictEqual(changeOf(12, 10), "+20 %")
    assert.strictEqual(changeOf(9, 10), "−10 %")
    assert.strictEqual(changeOf(10, 10), "no change")
    assert.isNull(changeOf(10, 0))
  })

  it("covers UTC days up to today, and those before them", () => {
    const now = Date.parse("2026-11-24T00:30:00Z")
    assert.deepStrictEqual(lastDays(now, 3), days)
    assert.deepStrictEqual(lastDays(now, 2, 3), ["2026-11-20", "2026-11-21"])
  })

  it("covers a range of its own of at most 31 days, and as many days before it", () => {
    const now = Date.parse("2026-11-24T00:30:00Z")
    const range = { from: "2026-02-27", to: "2026-03-01" }
    assert.deepStrictEqual(daysOf(range, now), {
      days: ["2026-02-27", "2026-02-28", "2026-03-01"],
      before: ["2026-02-24", "2026-02-25", "2026-02-26"]
    })
    assert.deepStrictEqual(daysOf({ days: "7" }, now).days, lastDays(now, 7))
    assert.deepStrictEqual(usageSearch({ days: "7", ...range }), range)
    assert.isUndefined(problemOf("2026-01-01", "2026-01-31"))
    assert.include(problemOf("2026-01-01", "2026-02-01"), "at most 31 days")
    assert.include(problemOf("2026-01-02", "2026-01-01"), "must not be after")
    for (const wrong of ["2026-02-30", "2026-1-1", "", 7, undefined]) {
      assert.include(problemOf(wrong, "2026-03-01"), "Choose")
      assert.deepStrictEqual(usageSearch({ days: "7", from: wrong, to: "2026-03-01" }), { days: "7" })
    }
  })

  it("keeps choices in the URL, and defaults out of it", () => {
    assert.deepStrictEqual(usageSearch({ days: 7, of: "credits", by: "key" }), { days: "7", of: "credits", by: "key" })
    assert.deepStrictEqual(usageSearch({ days: "14", of: "jobs", by: "model" }), {})
  })
})

it("changes only the limits of a budget that differ, and removes cleared ones", () => {
  const before = { credits_per_day: 10, credits_per_month: null, jobs_per_day: 5, jobs_per_month: null }
  assert.deepStrictEqual(budgetOf(before), { credits_per_day: 10, jobs_per_day: 5 })
  assert.deepStrictEqual(budgetChangeOf(before, budgetOf(before)), {})
  assert.deepStrictEqual(budgetChangeOf(before, { credits_per_day: 12, jobs_per_month: 0 }), {
    credits_per_day: 12,
    jobs_per_day: null,
    jobs_per_month: 0
  })
})

it("keeps filters of jobs in the URL, and ignores unknown ones", () => {
  assert.deepStrictEqual(jobSearch({ status: "failed", kind: "audio", q: "lake", view: "grid", days: 7 }), {
    status: "failed",
    q: "lake",
    days: "7",
    view: "grid"
  })
})

describe("webhooks", () => {
  it("explains why a URL cannot be an endpoint", () => {
    assert.isUndefined(urlProblem("https://example.com/hook"))
    assert.isUndefined(urlProblem("https://example.com:8443/hook"))
    assert.include(urlProblem("http://example.com"), "https")
    assert.include(urlProblem("https://example.com:444"), "port")
    assert.include(urlProblem("https://a:b@example.com"), "user name")
    assert.include(urlProblem("example"), "Enter a URL")
  })

  it("explains outcomes", () => {
    assert.strictEqual(reasonText("timeout"), "No response in time")
    assert.strictEqual(reasonText("status_503"), "The receiver responded with 503")
    assert.strictEqual(reasonText("something_new"), "something_new")
  })

  it("checks signatures like the service computes them", async () => {
    const [body, secret, now] = ["{\"id\":\"dlv_1\"}", "whsec_abc", 1_764_000_000_000]
    const sign = (time: number) =>
      `t=${time},v1=${createHmac("sha256", secret).update(`${time}.${body}`).digest("hex")}`
    const header = sign(now / 1000)
    assert.strictEqual(await checkSignature(body, header, secret, now), "valid")
    assert.strictEqual(await checkSignature(body, `${header},v1=00`, secret, now), "valid")
    assert.strictEqual(await checkSignature(`${body} `, header, secret, now), "wrong")
    assert.strictEqual(await checkSignature(body, header, "whsec_abd", now), "wrong")
    assert.strictEqual(await checkSignature(body, sign(now / 1000 - 301), secret, now), "old")
    for (const malformed of ["", "v1=00", "t=1", "t=1,t=2,v1=00", "t=x,v1=00"]) {
      assert.strictEqual(await checkSignature(body, malformed, secret, now), "malformed", malformed)
    }
  })
})

describe("a failed sign-in", () => {
  const failed = (fragment: string) => failureOf(new URLSearchParams(fragment))

  it("is described with the address, and with what to do next", () => {
    assert.isNull(failed("code=x"))
    assert.deepStrictEqual(failed("sign_in_error=no_account&email=ada%40example.com"), {
      title: "No account for ada@example.com",
      detail: "Ask your operator for access."
    })
    assert.include(failed("sign_in_error=email_not_verified&email=ada%40example.com")?.detail, "ada@example.com")
    for (const reason of ["denied", "expired", "no_account", "email_not_verified", "rate_limited", "unavailable"]) {
      assert.notStrictEqual(failed(`sign_in_error=${reason}`)?.title, "The sign-in was rejected", reason)
    }
  })

  it("is described in general if the reason is unknown, and never with a long text", () => {
    for (const reason of ["", "__proto__", "anything"]) {
      assert.strictEqual(failed(`sign_in_error=${reason}`)?.title, "The sign-in was rejected")
    }
    assert.isBelow(failed(`sign_in_error=no_account&email=${"a".repeat(9_000)}`)?.title.length ?? 0, 300)
  })
})
