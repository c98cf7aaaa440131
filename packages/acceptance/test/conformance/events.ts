/** Which events webhooks have, and their content. */
import { expect } from "@effect/vitest"
import type { Arrival } from "../../src/Receiver.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"
import * as Webhooks from "./webhooks.ts"

const dateTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

const idOf = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`))

const typesOf = (arrivals: ReadonlyArray<Arrival>) =>
  arrivals.map((arrival) => Webhooks.bodyOf(arrival).type).toSorted()

export const events = (define: Define): void => {
  announcements(define)
  silence(define)
  bodies(define)
  headers(define)
}

const announcements = ({ holds, inTime }: Define): void => {
  holds(["webhooks.post", "events.started", "job-states.started"], async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { inbox } = await Webhooks.listen(stage, account, receiver)
    const job = await Calls.processing(account)
    const [arrival] = await inbox.until(1)
    expect(arrival?.method).toBe("POST")
    expect(arrival === undefined ? null : Webhooks.bodyOf(arrival)).toMatchObject({
      type: "generation.started",
      data: { generation: { id: job.id, status: "processing", started_at: job.started_at } }
    })
  })

  holds(["events.completed", "job-states.completed"], async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { inbox } = await Webhooks.listen(stage, account, receiver, { types: ["generation.completed"] })
    const { id } = await Calls.createJob(account)
    const [arrival] = await inbox.until(1)
    if (arrival === undefined) throw new Error("Nothing arrived")
    const { generation } = Webhooks.bodyOf(arrival).data
    expect([generation.id, generation.status]).toEqual([id, "completed"])
    // The result can be downloaded at once and without a key.
    const content = await stage.send(generation.output?.url ?? "/nothing")
    expect([content.status, (await content.bytes()).length]).toEqual([200, generation.output?.bytes])
  })

  holds(["events.failed", "job-states.failed"], async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { inbox } = await Webhooks.listen(stage, account, receiver)
    const before = await Calls.creditsOf(account)
    const { id } = await Calls.createJob(account, { model: "fails" })
    const arrivals = await inbox.until(2)
    expect(typesOf(arrivals)).toEqual(["generation.failed", "generation.started"])
    expect(Webhooks.byType(arrivals)["generation.failed"]?.data.generation).toMatchObject({
      id,
      status: "failed",
      refunded: true,
      error_code: "generation_failed"
    })
    expect(await Calls.creditsOf(account)).toBe(before)
  })

  inTime("job-states.notStarted", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { inbox } = await Webhooks.listen(stage, account, receiver)
    const { id } = await Calls.createJob(account)
    await stage.advance("24 hours")
    await stage.advance("5 minutes")
    expect(inbox.arrivals.map(Webhooks.bodyOf)).toMatchObject([
      { type: "generation.failed", data: { generation: { id, status: "failed", refunded: true, started_at: null } } }
    ])
  }, { workers: 0 })
}

const silence = ({ holds }: Define): void => {
  holds(["cancelling.silent", "events.cancelled"], async (stage) => {
    const account = await stage.openAccount({ credits: "starter" })
    await using receiver = await stage.receive()
    const { endpoint, inbox } = await Webhooks.listen(stage, account, receiver)
    const wish = { model: "slow" }
    // Two jobs hold the slots; the third waits and is cancelled.
    const running = await Promise.all(
      ["a", "b"].map((prompt) => Calls.processing(account, { ...wish, params: { prompt } }))
    )
    const { id, status } = await Calls.createJob(account, wish)
    expect([status, (await Calls.cancel(account, id)).status]).toEqual(["pending", 200])
    const arrivals = await inbox.until(2)
    expect(arrivals.map((arrival) => Webhooks.bodyOf(arrival).data.generation.id).toSorted()).toEqual(
      running.map((job) => job.id).toSorted()
    )
    // Deliveries are stored together with the cancellation.
    expect(await Webhooks.deliveries(stage, account, endpoint)).toHaveLength(2)
  })

  holds(["job-states.startedOnce", "events.cancelled"], async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { endpoint, inbox } = await Webhooks.listen(stage, account, receiver)
    for (const model of ["picture", "fails"]) await Calls.ended(account, { model })
    await inbox.until(4)
    expect(typesOf(inbox.arrivals)).toEqual([
      "generation.completed",
      "generation.failed",
      "generation.started",
      "generation.started"
    ])
    expect(await Webhooks.deliveries(stage, account, endpoint)).toHaveLength(4)
  })
}

const bodies = ({ holds, inTime }: Define): void => {
  holds([
    "body.id",
    "body.type",
    "body.createdAt",
    "body.generation",
    "identifiers.webhookIds",
    "identifiers.accountIds",
    "identifiers.deliveryIds"
  ], async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const types = ["generation.completed"]
    const first = await Webhooks.listen(stage, account, receiver, { types })
    const second = await Webhooks.listen(stage, account, receiver, { types })
    const expectMeanwhile = Calls.startSpan(stage)
    await Calls.ended(account)
    const seen = []
    for (const { endpoint, inbox } of [first, second]) {
      const [arrival] = await inbox.until(1)
      const body = arrival === undefined ? undefined : Webhooks.bodyOf(arrival)
      expect(body).toEqual({
        id: idOf("dlv"),
        type: "generation.completed",
        created_at: dateTime,
        data: { generation: expect.any(Object) }
      })
      expect(arrival?.headers.get("x-service-delivery")).toBe(body?.id)
      expectMeanwhile(Date.parse(body?.created_at ?? ""))
      const [delivery] = await Webhooks.deliveries(stage, account, endpoint)
      expect(delivery).toMatchObject({ id: body?.id, event_id: idOf("evt"), endpoint_id: endpoint.id })
      expect(endpoint.id).toEqual(idOf("whep"))
      seen.push({ event: delivery?.event_id, delivery: delivery?.id })
    }
    // One event has two deliveries.
    expect([new Set(seen.map(({ event }) => event)).size, new Set(seen.map(({ delivery }) => delivery)).size]).toEqual([
      1,
      2
    ])
  })

  holds(["delivery.duplicates", "body.id", "body.bytes"], async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { inbox } = await Webhooks.listen(stage, account, receiver, {
      types: ["generation.completed"],
      // The endpoint received the first send but failed to respond.
      script: (_, n) => n === 0 ? "reset" : { status: 200 }
    })
    const { id } = await Calls.completed(account)
    await inbox.until(1)
    await stage.elapse("10 seconds")
    const [first, second] = await inbox.until(2)
    expect(second?.body).toEqual(first?.body)
    expect(second?.headers.get("x-service-delivery")).toBe(first?.headers.get("x-service-delivery"))
    expect(first === undefined ? null : Webhooks.bodyOf(first).data.generation.id).toBe(id)
    expect(second?.headers.get("x-service-signature")).not.toBe(first?.headers.get("x-service-signature"))
  })

  holds("body.generation", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { inbox } = await Webhooks.listen(stage, account, receiver)
    const running = await Calls.processing(account)
    const failed = await Calls.ended(account, { model: "fails" })
    const picture = await Calls.ended(account, { plan: "studio", params: { aspect_ratio: "16:9" } })
    const film = await Calls.ended(account, { model: "film" })
    await inbox.until((arrivals) => arrivals.length >= 7)
    const bodies = inbox.arrivals.map(Webhooks.bodyOf)
    const announced = (type: string, { id }: Calls.Job) => {
      const found = bodies.filter((body) => body.type === type && body.data.generation.id === id)
      expect(found).toHaveLength(1)
      return found[0]?.data.generation
    }
    expect(announced("generation.started", running)).toEqual(running)
    expect(announced("generation.failed", failed)).toEqual(failed)
    for (const job of [picture, film]) {
      const generation = announced("generation.completed", job)
      expect(generation === undefined ? null : Webhooks.withoutSignatures(generation)).toEqual(
        Webhooks.withoutSignatures(job)
      )
    }
  })

  inTime(["body.urls", "signed-urls.expired"], async (stage) => {
    const account = await stage.openAccount()
    const { output, preview_url, thumb_url } = await Webhooks.announced(stage, account)
    const sent = stage.now().getTime()
    const links = [output?.url, preview_url, thumb_url].map((url) => url ?? "/nothing")
    for (const url of links) {
      expect(Number(new URL(url).searchParams.get("exp"))).toBe(sent / 1_000 + 3_600)
    }
    expect(Date.parse(output?.expires_at ?? "")).toBe(sent + 3_600_000)
    await stage.advance("59 minutes")
    for (const url of links) expect((await stage.send(url)).status).toBe(200)
    await stage.advance("1 minute")
    await stage.advance("1 second")
    for (const url of links) await Calls.refusalOf(await stage.send(url), 403, "signature_expired")
  })
}

const headers = ({ holds }: Define): void => {
  holds(
    ["headers.contentType", "headers.userAgent", "headers.event", "headers.delivery", "headers.signature"],
    async (stage) => {
      const account = await stage.openAccount()
      await using receiver = await stage.receive()
      const { inbox } = await Webhooks.listen(stage, account, receiver)
      await Calls.ended(account)
      for (const arrival of await inbox.until(2)) {
        const { id, type } = Webhooks.bodyOf(arrival)
        const value = (name: string) => arrival.headers.get(name)
        expect({
          contentType: value("content-type"),
          userAgent: value("user-agent"),
          event: value("x-service-event"),
          delivery: value("x-service-delivery"),
          signature: value("x-service-signature")
        }).toEqual({
          contentType: "application/json",
          userAgent: "Service-Webhooks/1.0",
          event: type,
          delivery: id,
          signature: expect.stringMatching(/^t=\d{10},v1=[0-9a-f]{64}$/)
        })
        // Written as documented, for receivers that compare header names by case.
        expect(arrival.headerNames).toEqual(
          expect.arrayContaining(["X-Service-Event", "X-Service-Delivery", "X-Service-Signature"])
        )
      }
    }
  )
}
