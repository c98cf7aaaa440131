/** Transitions of jobs, and reading and cancelling jobs in each state. */
import { expect } from "@effect/vitest"
import type { Account, Stage } from "../../src/conformance/Stage.ts"
import { withdrawnLater } from "../../src/conformance/StageModels.ts"
import * as Calls from "./calls.ts"
import type { Job } from "./calls.ts"
import type { Define } from "./Suite.ts"

/** Opens an account whose only slot for credits is occupied by a job that does not end. */
const busy = async (stage: Stage) => {
  const account = await stage.openAccount({ credits: null })
  const { id } = await Calls.processing(account)
  return { account, running: id }
}

/** Creates a job that waits for the slot. */
const pending = (account: Account, prompt = "waits", model = "slow") =>
  Calls.createJob(account, { model, params: { prompt } })

export const states = (define: Define): void => {
  transitions(define)
  ends(define)
  cancels(define)
}

const transitions = ({ holds, inTime }: Define): void => {
  holds(["job-states.pendingStatus", "create-a-job.excess"], async (stage) => {
    const { account } = await busy(stage)
    const { id, status, started_at } = await pending(account)
    expect([status, started_at]).toEqual(["pending", null])
    expect((await Calls.read(account, id)).status).toBe("pending")
  })

  holds(["job-states.processingStatus", "job-states.started"], async (stage) => {
    const account = await stage.openAccount()
    const { id, status } = await Calls.createJob(account, { model: "slow" })
    expect(status).toBe("queued")
    const { started_at } = await Calls.awaitStatus(account, id, "processing")
    expect(started_at).not.toBe(null)
  })

  holds(["job-states.completedStatus", "job-states.completed"], async (stage) => {
    const account = await stage.openAccount()
    const { finished_at, output, refunded, status } = await Calls.completed(account)
    expect([status, finished_at === null, refunded]).toEqual(["completed", false, false])
    const content = await account.send(output.url)
    expect([content.status, (await content.bytes()).length]).toEqual([200, output.bytes])
  })

  holds(["job-states.failedStatus", "job-states.failed"], async (stage) => {
    const account = await stage.openAccount()
    const { output, refunded, status } = await Calls.ended(account, { model: "fails" })
    expect([status, refunded, output]).toEqual(["failed", true, null])
    expect(await Calls.creditsOf(account)).toBe(1_000)
  })

  holds(["job-states.strings", "job-states.queuedStatus"], async (stage) => {
    const { account, running } = await busy(stage)
    const other = await stage.openAccount()
    const waiting = await pending(account)
    const seen = [
      waiting.status,
      (await Calls.createJob(other)).status,
      (await Calls.read(account, running)).status,
      (await Calls.completed(other, { model: "dear" })).status,
      (await Calls.ended(other, { model: "fails" })).status,
      (await Calls.jsonOf<Job>(await Calls.cancel(account, waiting.id))).status
    ]
    expect(seen).toEqual(["pending", "queued", "processing", "completed", "failed", "cancelled"])
  })

  holds("job-states.slots", async (stage) => {
    const account = await stage.openAccount({ credits: "starter", studio: "starter" })
    const statuses = []
    for (const n of Calls.numbers(3)) statuses.push((await pending(account, `lake ${n}`)).status)
    expect(statuses).toEqual(["queued", "queued", "pending"])
    // The other group has its own slots.
    expect((await Calls.createJob(account, { plan: "studio" })).status).toBe("queued")
  })

  holds(["job-states.pending", "rate-limits.queue"], async (stage) => {
    const account = await stage.openAccount({ credits: "business", studio: "scale" })
    // 8 and 4 jobs run; 20 wait over both groups.
    for (const n of Calls.numbers(8 + 10)) await pending(account, `lake ${n}`)
    for (const n of Calls.numbers(4 + 10)) {
      await Calls.createJob(account, { plan: "studio", model: "slow", params: { prompt: `lake ${n}` } })
    }
    const credits = await Calls.creditsOf(account)
    for (const plan of ["credits", "studio"]) {
      const refused = await Calls.create(account, { plan, model: "slow", params: { prompt: "too many" } })
      await Calls.refusalOf(refused.clone(), 429, "queue_full")
      expect(Calls.retryOf(refused).seconds).toBe(5)
    }
    expect(await Calls.creditsOf(account)).toBe(credits)
  })

  inTime("job-states.promotion", async (stage) => {
    const account = await stage.openAccount({ credits: null })
    const ids: Array<string> = []
    for (const prompt of ["a", "b", "c"]) ids.push((await pending(account, prompt, "in-a-minute")).id)
    const statuses = async () => Promise.all(ids.map(async (id) => (await Calls.read(account, id)).status))
    expect((await statuses()).slice(1)).toEqual(["pending", "pending"])
    await stage.advance("1 minute")
    expect(await statuses()).toEqual(["completed", "processing", "pending"])
    await stage.advance("1 minute")
    expect(await statuses()).toEqual(["completed", "completed", "processing"])
  })

  holds("job-states.timeLimit", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account, { model: "over-time" })
    await stage.elapse("1 second")
    const { error_code, refunded, status } = await Calls.awaitEnd(account, id)
    expect([status, error_code, refunded]).toEqual(["failed", "time_limit", true])
  })

  inTime("the-job-object.timeLimit", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account, { model: "over-time" })
    await stage.advance("999 millis")
    expect((await Calls.read(account, id)).status).toBe("processing")
    await stage.advance("1 millis")
    expect(await Calls.read(account, id)).toMatchObject({ status: "failed", error_code: "time_limit", refunded: true })
  })

  inTime(["job-states.notStarted", "the-job-object.queueTimeout"], async (stage) => {
    const account = await stage.openAccount({ credits: null })
    const first = await pending(account, "a")
    const second = await pending(account, "b")
    expect([first.status, second.status]).toEqual(["queued", "pending"])
    await stage.advance({ hours: 23, minutes: 59 })
    expect((await Calls.read(account, second.id)).status).toBe("pending")
    await stage.advance("10 minutes")
    for (const { id } of [first, second]) {
      expect(await Calls.read(account, id)).toMatchObject({
        status: "failed",
        error_code: "queue_timeout",
        refunded: true
      })
    }
    expect(await Calls.creditsOf(account)).toBe(1_000)
  }, { workers: 0 })
}

const ends = ({ holds, onPostgres }: Define): void => {
  holds([
    "the-job-object.generationFailed",
    "the-job-object.contentRejected",
    "the-job-object.invalidInput",
    "the-job-object.upstreamError",
    "the-job-object.upstreamTimeout"
  ], async (stage) => {
    const account = await stage.openAccount()
    const codes = []
    for (const model of ["fails", "rejects", "finds-invalid", "upstream-fails", "upstream-late"]) {
      const { error, status } = await Calls.ended(account, { model })
      expect(status).toBe("failed")
      codes.push(error?.code)
    }
    expect(codes).toEqual([
      "generation_failed",
      "content_rejected",
      "invalid_input",
      "upstream_error",
      "upstream_timeout"
    ])
  })

  onPostgres(["job-states.withdrawn", "the-job-object.modelWithdrawn"], async (stage) => {
    const account = await stage.openAccount({ credits: null })
    await Calls.processing(account)
    const { id, status } = await pending(account, "withdrawn later", withdrawnLater)
    expect(status).toBe("pending")
    await stage.second()
    expect(await Calls.awaitEnd(account, id)).toMatchObject({
      status: "failed",
      error_code: "model_withdrawn",
      refunded: true
    })
    expect(await Calls.creditsOf(account)).toBe(999)
  })

  holds("usage.day", async (stage) => {
    const { account } = await busy(stage)
    await Calls.cancel(account, (await pending(account)).id)
    const other = await stage.openAccount()
    await Calls.ended(other)
    await Calls.ended(other, { model: "fails" })
    const rowsOf = async (account: Account) => (await Calls.usageOf(account)).data
    expect(await rowsOf(account)).toEqual([expect.objectContaining({ completed: 0, failed: 0, cancelled: 1 })])
    expect(await rowsOf(other)).toEqual([
      expect.objectContaining({ model: "fails", completed: 0, failed: 1, cancelled: 0 }),
      expect.objectContaining({ model: "picture", completed: 1, failed: 0, cancelled: 0 })
    ])
  })
}

const cancels = ({ holds, inTime }: Define): void => {
  holds(
    ["cancelling.refund", "overview.refund", "job-states.cancelledStatus", "job-states.cancelled"],
    async (stage) => {
      const { account } = await busy(stage)
      const credits = await Calls.creditsOf(account)
      const { id } = await pending(account, "dear", "dear")
      expect(await Calls.creditsOf(account)).toBe(credits - 10)
      const response = await Calls.cancel(account, id)
      expect([response.status, await response.json()]).toEqual([
        200,
        expect.objectContaining({ id, status: "cancelled", refunded: true, error: null, output: null })
      ])
      expect(await Calls.creditsOf(account)).toBe(credits)
    }
  )

  holds("cancelling.refund", async (stage) => {
    const { account } = await busy(stage)
    const { id } = await pending(account)
    const response = await account.send(`/v1/generations/${id}/cancel`, { method: "POST" })
    expect([response.status, (await Calls.jsonOf<Job>(response)).id]).toEqual([200, id])
    await Calls.refusalOf(await Calls.cancel(account, "gen_01q3dcbd00evhthzyyqsfhxazr"), 404, "not_found")
  })

  holds("cancelling.notCancellable", async (stage) => {
    const { account, running } = await busy(stage)
    await Calls.refusalOf(await Calls.cancel(account, running), 409, "not_cancellable")
    expect(await Calls.read(account, running)).toMatchObject({ status: "processing", refunded: false })
  })

  holds("cancelling.again", async (stage) => {
    const { account } = await busy(stage)
    const { id } = await pending(account)
    const credits = await Calls.creditsOf(account)
    const [first, second] = [await Calls.cancel(account, id), await Calls.cancel(account, id)]
    expect([first.status, second.status]).toEqual([200, 200])
    expect(await second.json()).toEqual(await first.json())
    expect(await Calls.creditsOf(account)).toBe(credits + 1)
  })

  holds("cancelling.notCancellable", async (stage) => {
    const account = await stage.openAccount()
    const jobs = [
      await Calls.processing(account),
      await Calls.ended(account),
      await Calls.ended(account, { model: "fails" })
    ]
    expect(jobs.map(({ status }) => status)).toEqual(["processing", "completed", "failed"])
    for (const { id, status } of jobs) {
      const refusal = await Calls.refusalOf(await Calls.cancel(account, id), 409, "not_cancellable")
      expect(refusal.details["status"]).toBe(status)
    }
  })

  inTime("credit-lots.once", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account, { model: "dear" })
    const answers = await Promise.all(Calls.numbers(8).map(() => Calls.cancel(account, id)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await Calls.creditsOf(account)).toBe(1_000)
  }, { workers: 0 })
}
