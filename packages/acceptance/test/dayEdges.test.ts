/** Days, months and periods end at their UTC instant, whatever the zone of the process. */
import { expect, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { promisify } from "node:util"

const program = `${import.meta.dirname}/dayEdges.process.ts`

const run = async (zone: string) => {
  const environment = { ...process.env, TZ: zone }
  const args = ["--conditions=@kinora/source", program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: environment })
  // The log of the host precedes it.
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")
}

/** Returns the figures of an account at the edge between two days. */
const seen = (before: string, after: string, next: string, periodEnd: string) => ({
  refused: { quota_kind: "image", resets_at: `${after}T00:00:00.000Z` },
  before: `${before} 1 ${after}T00:00:00.000Z`,
  after: `${after} 0 ${next}T00:00:00.000Z`,
  refunded: [`${after} 1 ${next}T00:00:00.000Z`, "quota_exceeded"],
  // The jobs of the day and the month: before the edge, after it, and after a refund of the first of two jobs.
  spent: ["1 of 1", after.endsWith("-01") ? "0 of 0" : "0 of 1", "1 of 1"],
  again: `${after} 0 ${next}T00:00:00.000Z`,
  cancelled: [`${after} 2`],
  period_end: `${periodEnd}T23:59:59.999Z`
})

it.each(["Pacific/Kiritimati", "America/Santiago", "Europe/Berlin"])("in %s", async (zone) => {
  expect(await run(zone)).toEqual([
    seen("2028-02-28", "2028-02-29", "2028-03-01", "2028-03-29"),
    seen("2028-02-29", "2028-03-01", "2028-03-02", "2028-03-30"),
    seen("2028-03-26", "2028-03-27", "2028-03-28", "2028-04-25"),
    seen("2028-04-02", "2028-04-03", "2028-04-04", "2028-05-02"),
    seen("2028-09-03", "2028-09-04", "2028-09-05", "2028-10-03"),
    seen("2028-12-31", "2029-01-01", "2029-01-02", "2029-01-30")
  ])
})
