/** Tests of the webhook receiver itself. */
import { assert, it } from "@effect/vitest"
import { Secret, Signature } from "@kinora/webhook-signing"
import { Effect } from "effect"
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { request } from "node:https"
import * as Receiver from "../src/Receiver.ts"
import * as Receivers from "../src/Receivers.ts"

const body = JSON.stringify({ id: "dlv_1", type: "webhook.test", created_at: "2026-01-01T00:00:00.000Z", data: {} })

/** Sends a webhook and returns the status. */
const send = async (
  url: string,
  ca: string,
  headers: Readonly<Record<string, string>>
): Promise<number | undefined> => {
  const sent = request(url, { method: "POST", ca, agent: false, headers })
  sent.end(body)
  const [answer]: ReadonlyArray<IncomingMessage> = await once(sent, "response")
  answer?.resume()
  return answer?.statusCode
}

const sign = async (secret: string) => ({
  "X-Service-Signature": await Signature.sign({ secret, body })
})

it.live("stores webhooks byte by byte, verifies them, and responds as scripted", () =>
  Effect.gen(function*() {
    const { ca, start } = yield* Receivers.make()
    yield* Effect.promise(async () => {
      await using receiver = await start()
      const secret = Secret.generate()
      const inbox = receiver.inbox((_, n) => ({ status: n === 0 ? 503 : 200 }))
      inbox.trust([secret])
      const arrived = inbox.until(2)
      const statuses = [await send(inbox.url, ca, await sign(secret)), await send(inbox.url, ca, await sign(secret))]
      const [arrival] = await arrived
      assert.deepStrictEqual([statuses, receiver.connections()], [[503, 200], 2])
      assert.deepStrictEqual(arrival?.body, new TextEncoder().encode(body))
      assert.include(arrival?.headerNames ?? [], "X-Service-Signature")
      assert.deepStrictEqual(arrival === undefined ? null : Receiver.jsonOf(arrival), JSON.parse(body))
    })
  }))

it.live("throws when it closes if a webhook did not verify with a required secret", () =>
  Effect.gen(function*() {
    const { ca, start } = yield* Receivers.make()
    const problems = yield* Effect.promise(async () => {
      const receiver = await start()
      const inbox = receiver.inbox()
      const [good, bad] = [Secret.generate(), Secret.generate()]
      for (const [secrets, by] of [[[good, bad], "all"], [[good, bad], "any"], [[], "all"]] as const) {
        inbox.trust(secrets, by)
        await send(inbox.url, ca, await sign(good))
      }
      const problems = receiver.problems()
      const error = await receiver[Symbol.asyncDispose]().then(() => null, (error: unknown) => String(error))
      assert.include(error ?? "", problems.join("\n"))
      return problems
    })
    assert.strictEqual(problems.length, 3)
    assert.match(problems[0] ?? "", /^Stripe's SDK: .*No signatures found matching/)
    assert.match(problems[1] ?? "", /^Our package: /)
    assert.match(problems[2] ?? "", /before its receiver knew a secret/)
  }))
