/** Retries of webhooks, the send log, and what operators can do with deliveries. */
import { expect } from "@effect/vitest"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"
import * as Webhooks from "./webhooks.ts"

const failing = () => ({ status: 500 })

export const deliveries = (define: Define): void => {
  schedule(define)
  realTime(define)
  operating(define)
  filters(define)
}

const schedule = ({ inTime }: Define): void => {
  inTime(
    ["delivery.times", "delivery.third", "delivery.fourth", "delivery.marked", "delivery.result"],
    async (stage) => {
      const account = await stage.openAccount()
      await using receiver = await stage.receive()
      const times: Array<number> = []
      const { endpoint, inbox } = await Webhooks.listen(stage, account, receiver, {
        types: ["generation.completed"],
        script: () => {
          times.push(stage.now().getTime())
          return { status: 500 }
        }
      })
      const { id, output } = await Calls.completed(account)
      await inbox.until(1)
      const began = stage.now().getTime()
      // Neither early nor late: nothing one millisecond before, and a send at the time.
      for (const [n, pause] of [10_000, 60_000, 300_000].entries()) {
        await stage.advance(pause - 1)
        expect(inbox.arrivals).toHaveLength(n + 1)
        await stage.advance(1)
        expect(inbox.arrivals).toHaveLength(n + 2)
      }
      expect(times).toEqual([0, 10_000, 70_000, 370_000].map((after) => began + after))
      const [delivery] = await Webhooks.deliveries(stage, account, endpoint)
      expect(delivery).toMatchObject({ status: "failed", failed_sends: 4, due_at: null })

      await stage.advance("3 hours")
      expect(inbox.arrivals).toHaveLength(4)
      expect((await Webhooks.sends(stage, account, endpoint)).map(({ attempt, at }) => [attempt, at])).toEqual(
        times.map((time, n) => [n + 1, new Date(time).toISOString()]).toReversed()
      )
      // The endpoint received nothing, but the result exists.
      const job = await Calls.read(account, id)
      expect(job.status).toBe("completed")
      const content = await stage.send(job.output?.url ?? "/nothing")
      expect([content.status, (await content.bytes()).length]).toEqual([200, output.bytes])
    }
  )
}

const realTime = ({ onServers }: Define): void => {
  onServers("delivery.first", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { endpoint, inbox } = await Webhooks.listen(stage, account, receiver, {
      script: (_, n) => ({ status: n === 0 ? 500 : 200, afterMillis: n === 0 ? 3_000 : 0 })
    })
    const delivery = await Webhooks.test(stage, account, endpoint)
    await inbox.until(2)
    const done = await Webhooks.deliveryOnce(stage, account, delivery, ({ status }) => status === "delivered")
    const [second, first] = await Webhooks.sends(stage, account, endpoint)
    // Counted from the end of the first attempt, which took three seconds. The log has times in whole milliseconds, so
    // the sum of them can be two short. A busy machine sends later, but the pause after this one is a minute.
    const pause = Date.parse(second?.at ?? "") - Date.parse(first?.at ?? "") - (first?.duration_ms ?? 0)
    expect(first?.duration_ms).toBeGreaterThanOrEqual(2_999)
    expect(pause).toBeGreaterThanOrEqual(9_998)
    expect(pause).toBeLessThan(60_000)
    expect(done.failed_sends).toBe(1)
  })

  onServers("delivery.slow", async (stage) => {
    const [account, other] = await Promise.all([stage.openAccount(), stage.openAccount()])
    await using receiver = await stage.receive()
    const dead = await Webhooks.listen(stage, account, receiver, { script: () => "hang" })
    const neighbour = await Webhooks.listen(stage, account, receiver)
    const stranger = await Webhooks.listen(stage, other, receiver)
    await Promise.all(Calls.numbers(60).map(() => Webhooks.test(stage, account, dead.endpoint)))
    await dead.inbox.until(1)
    for (const [owner, { endpoint, inbox }] of [[account, neighbour], [other, stranger]] as const) {
      const { created_at } = await Webhooks.test(stage, owner, endpoint)
      const [arrival] = await inbox.until(1)
      // Behind endpoints that hang, it would take ten seconds.
      expect((arrival?.at ?? 0) - Date.parse(created_at)).toBeLessThan(5_000)
    }
    await Webhooks.change(stage, account, dead.endpoint, { status: "disabled" })
  })
}

const operating = ({ holds, inTime }: Define): void => {
  holds("send-log.log", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { endpoint, inbox } = await Webhooks.listen(stage, account, receiver, {
      // None of them fails, because a retry would add an entry. Other cases prove the other reasons.
      script: (_, n) => ({ status: n < 5 ? 200 : 202 })
    })
    const sent: Array<string> = []
    for (const n of Calls.numbers(25)) {
      sent.push((await Webhooks.test(stage, account, endpoint)).id)
      await inbox.until(n + 1)
      await Webhooks.sendsOnce(stage, account, endpoint, ([newest]) => newest?.delivery_id === sent[n])
    }
    const log = await Webhooks.sends(stage, account, endpoint)
    expect(log.map(({ delivery_id }) => delivery_id)).toEqual(sent.slice(5).toReversed())
    for (const send of log) {
      expect(send).toMatchObject({ type: "webhook.test", attempt: 1, http_status: 202, reason: "ok" })
    }
  })

  inTime("delivery.resend", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    const { endpoint, inbox } = await Webhooks.listen(stage, account, receiver, {
      types: ["generation.completed"],
      script: failing
    })
    await Calls.completed(account)
    await inbox.until(1)
    const resend = async (delivery: Pick<Webhooks.Delivery, "id">) =>
      Webhooks.admin(stage, account, "POST", `/webhook-deliveries/${delivery.id}/resend`)
    const [pending] = await Webhooks.deliveries(stage, account, endpoint)
    if (pending === undefined) throw new Error("There is no delivery")
    await Calls.refusalOf(await resend(pending), 409, "delivery_pending")

    await stage.advance("370 seconds")
    const failed = await Webhooks.deliveryOnce(stage, account, pending, ({ status }) => status === "failed")
    // A whole schedule again, under the same id.
    expect(await Webhooks.resend(stage, account, failed)).toMatchObject({ id: failed.id, status: "pending" })
    await inbox.until(5)
    inbox.answer(() => ({ status: 200 }))
    await stage.advance("10 seconds")
    const arrivals = await inbox.until(6)
    expect(new Set(arrivals.map((arrival) => Webhooks.bodyOf(arrival).id))).toEqual(new Set([failed.id]))
    await Webhooks.deliveryOnce(stage, account, failed, ({ status }) => status === "delivered")
    // A delivered one as well.
    await Webhooks.resend(stage, account, failed)
    await inbox.until(7)
    const log = await Webhooks.sendsOnce(stage, account, endpoint, (sends) => sends.length === 7)
    expect(log.map(({ attempt }) => attempt)).toEqual([1, 2, 1, 4, 3, 2, 1])
    const stranger = await stage.openAccount()
    const theirs = Webhooks.admin(stage, stranger, "POST", `/webhook-deliveries/${failed.id}/resend`)
    await Calls.refusalOf(await theirs, 404, "not_found")
  })

  holds("events.test", async (stage) => {
    const account = await stage.openAccount()
    await using receiver = await stage.receive()
    // The filter of the endpoint does not apply.
    const { endpoint, inbox } = await Webhooks.listen(stage, account, receiver, { types: ["generation.failed"] })
    const delivery = await Webhooks.test(stage, account, endpoint)
    expect(delivery).toMatchObject({ endpoint_id: endpoint.id, type: "webhook.test", status: "pending" })
    const [arrival] = await inbox.until(1)
    expect(arrival?.headers.get("x-service-event")).toBe("webhook.test")
    expect(arrival === undefined ? null : Webhooks.bodyOf(arrival)).toEqual({
      id: delivery.id,
      type: "webhook.test",
      created_at: delivery.created_at,
      data: {}
    })
  })
}

const filters = ({ holds }: Define): void => {
  holds("webhook-endpoints.operations", async (stage) => {
    const account = await stage.openAccount()
    const stranger = await stage.openAccount()
    await using receiver = await stage.receive()
    const failures = await Webhooks.listen(stage, account, receiver, { types: ["generation.failed"] })
    const all = await Webhooks.listen(stage, account, receiver)
    const disabled = await Webhooks.listen(stage, account, receiver)
    const others = await Webhooks.listen(stage, stranger, receiver)
    await Webhooks.change(stage, account, disabled.endpoint, { status: "disabled" })
    await Calls.ended(account)
    await Calls.ended(account, { model: "fails" })
    await all.inbox.until(4)
    await failures.inbox.until(1)
    await Webhooks.change(stage, account, disabled.endpoint, { status: "enabled" })
    await Calls.ended(account, { model: "rejects" })
    await Promise.all([disabled.inbox.until(2), all.inbox.until(6), failures.inbox.until(2)])
    const typesOf = ({ inbox }: Webhooks.Listening) =>
      inbox.arrivals.map((arrival) => Webhooks.bodyOf(arrival).type.replace("generation.", "")).toSorted()
    expect([failures, all, disabled, others].map(typesOf)).toEqual([
      ["failed", "failed"],
      ["completed", "failed", "failed", "started", "started", "started"],
      ["failed", "started"],
      []
    ])
  })

  holds("webhook-endpoints.operations", async (stage) => {
    const account = await stage.openAccount()
    const stranger = await stage.openAccount()
    await using receiver = await stage.receive()
    const first = await Webhooks.listen(stage, account, receiver, { types: ["generation.failed"] })
    const second = await Webhooks.listen(stage, account, receiver)
    const { secret: _, ...shown } = first.endpoint
    expect(await Webhooks.endpoint(stage, account, first.endpoint)).toEqual(shown)
    // From now on to another URL, and with all types.
    const moved = receiver.inbox()
    moved.trust([first.endpoint.secret])
    const changed = await Webhooks.change(stage, account, first.endpoint, { url: moved.url, types: null })
    expect(changed).toEqual({ ...shown, url: moved.url, types: null })
    const list = await Webhooks.admin(stage, account, "GET", "/webhook-endpoints")
    const { data } = await Calls.jsonOf<{ readonly data: ReadonlyArray<Webhooks.Endpoint> }>(list)
    expect(data.map(({ id }) => id)).toEqual([first.endpoint.id, second.endpoint.id])

    const path = `/webhook-endpoints/${second.endpoint.id}`
    await Calls.refusalOf(await Webhooks.admin(stage, stranger, "DELETE", path), 404, "not_found")
    expect((await Webhooks.admin(stage, account, "DELETE", path)).status).toBe(204)
    for (const [method, below] of [["GET", ""], ["DELETE", ""], ["POST", "/test"], ["GET", "/sends"]] as const) {
      await Calls.refusalOf(await Webhooks.admin(stage, account, method, `${path}${below}`), 404, "not_found")
    }
    await Calls.ended(account)
    await moved.until(2)
    expect([first.inbox.arrivals, second.inbox.arrivals]).toEqual([[], []])
  })
}
