import { expect, it } from "vitest"
import * as TestHost from "../src/TestHost.ts"
import { codeOf, create, createCompleted, createdId, jobOf, read } from "./Requests.ts"

it("runs a job and a long poll in virtual time", async () => {
  await using kinora = await TestHost.start()
  await kinora.generator.hold()
  const id = await createdId(kinora)
  expect((await read(kinora, id)).status).toMatch(/queued|processing/)

  const polled = read(kinora, id, "?wait=60")
  await kinora.clock.advance("59 seconds")
  expect(await kinora.generator.calls()).toContainEqual({ method: "submit", id })
  expect((await read(kinora, id)).status).toBe("processing")
  await kinora.generator.succeed(id)

  const job = await polled
  expect(job).toMatchObject({
    status: "completed",
    created_at: "2030-01-01T00:00:00.000Z",
    finished_at: "2030-01-01T00:00:59.000Z"
  })
  const content = await kinora.fetch(job.output?.url ?? "", { apiKey: null })
  expect(content.status).toBe(200)
  const bytes = await content.bytes()
  expect(bytes.length).toBe(job.output?.bytes)
  expect(Array.from(bytes.subarray(1, 4), (byte) => String.fromCharCode(byte)).join("")).toBe("PNG")
  expect(kinora.clock.now().toISOString()).toBe("2030-01-01T00:00:59.000Z")
})

it("ends a long poll exactly after its time", async () => {
  await using kinora = await TestHost.start()
  await kinora.generator.hold()
  const id = await createdId(kinora)
  let isOver = false
  const polled = read(kinora, id, "?wait=60").finally(() => {
    isOver = true
  })
  await kinora.clock.advance("59999 millis")
  expect(isOver).toBe(false)
  await kinora.clock.advance(1)
  expect((await polled).status).toBe("processing")
})

it("resets the creation limit with the minute", async () => {
  await using kinora = await TestHost.start({ account: { creditsPlan: null } })
  for (let n = 0; n < 10; n++) await kinora.settled(await createdId(kinora, { prompt: `lake ${n}` }))
  await kinora.clock.advance("59 seconds")
  const refused = await create(kinora)
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"])
  expect(await codeOf(refused)).toBe("rate_limited")
  await kinora.clock.advance("1 second")
  expect((await create(kinora)).status).toBe(201)
})

it("serves a result for 24 hours and deletes its bytes soon after", async () => {
  await using kinora = await TestHost.start()
  const { id } = await createCompleted(kinora)
  const content = `/v1/generations/${id}/content`
  await kinora.clock.advance({ hours: 23, minutes: 59, seconds: 59 })
  expect((await kinora.fetch(content)).status).toBe(200)
  await kinora.clock.advance("1 second")
  const gone = await kinora.fetch(content)
  expect([gone.status, await codeOf(gone)]).toEqual([410, "result_expired"])
  await kinora.clock.advance("1 hour")
  expect(await read(kinora, id)).toMatchObject({ status: "completed", output: null })
})

it("uses the download window of the options", async () => {
  await using kinora = await TestHost.start({ resultTtl: "10 minutes" })
  const job = await createCompleted(kinora)
  expect(job.result_expires_at).toBe("2030-01-01T00:10:00.000Z")
  await kinora.clock.advance("10 minutes")
  expect((await kinora.fetch(job.output.url, { apiKey: null })).status).toBe(410)
})

it("replays the same request for 120 seconds and then creates a new job", async () => {
  await using kinora = await TestHost.start()
  const id = await createdId(kinora)
  await kinora.clock.advance("119 seconds")
  const replay = await create(kinora)
  expect([replay.status, replay.headers.get("idempotent-replayed")]).toEqual([200, "true"])
  expect((await jobOf(replay)).id).toBe(id)
  await kinora.clock.advance("1 second")
  const fresh = await create(kinora)
  expect([fresh.status, fresh.headers.get("idempotent-replayed")]).toEqual([201, "false"])
  expect((await jobOf(fresh)).id).not.toBe(id)
})

it("ends a scripted delay and a time limit exactly at their times", async () => {
  await using kinora = await TestHost.start({
    script: ({ prompt }) => prompt === "slow" ? { delay: "3 seconds" } : { delay: "hold" }
  })
  const slow = await createdId(kinora, { prompt: "slow" })
  const held = await createdId(kinora, { prompt: "held" })
  await kinora.clock.advance("1 hour")
  expect(await read(kinora, slow)).toMatchObject({ status: "completed", finished_at: "2030-01-01T00:00:03.000Z" })
  expect(await read(kinora, held)).toMatchObject({
    status: "failed",
    error_code: "time_limit",
    finished_at: "2030-01-01T00:05:00.000Z"
  })
})

it("stops time during work on other threads", async () => {
  await using kinora = await TestHost.start()
  await kinora.generator.hold()
  const id = await createdId(kinora)
  await kinora.generator.started(id)
  // The preview is made on a thread, and the job has five minutes.
  await kinora.generator.succeed(id)
  await kinora.clock.advance("1 hour")
  expect(await read(kinora, id)).toMatchObject({ status: "completed", finished_at: "2030-01-01T00:00:00.000Z" })
})

it("stops time while images are painted", async () => {
  await using kinora = await TestHost.start({ procedural: true })
  const id = await createdId(kinora, { model: "kinora-draft" })
  await kinora.clock.advance("1 hour")
  const job = await read(kinora, id)
  expect(job).toMatchObject({ status: "completed", finished_at: "2030-01-01T00:00:00.000Z" })
  expect(job.output?.bytes).toBeGreaterThan(4096)
})

it("ends a plan at the end of its period", async () => {
  await using kinora = await TestHost.start({ account: { lasts: "30 days" } })
  await kinora.clock.advance("30 days")
  const refused = await create(kinora, { plan: "studio", model: "kinora-draft" })
  expect([refused.status, await codeOf(refused)]).toEqual([402, "plan_inactive"])
})

it("starts at the time of the options", async () => {
  await using kinora = await TestHost.start({ startsAt: new Date("2028-02-29T23:59:59Z") })
  await kinora.clock.advance("1 second")
  expect(kinora.clock.now().toISOString()).toBe("2028-03-01T00:00:00.000Z")
})

it("uses real time, which cannot be advanced", async () => {
  await using kinora = await TestHost.start({ time: "real", script: { delay: "20 millis" } })
  const id = await createdId(kinora)
  expect((await read(kinora, id, "?wait=60")).status).toBe("completed")
  await expect(kinora.clock.advance("1 second")).rejects.toThrow("Time is real here")
})
