import { HttpModeration, Moderation } from "@kinora/moderation"
import { Signature } from "@kinora/webhook-signing"
import { Console, Effect, Redacted } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"

const secret = "whsec_of_this_example"

// The endpoint of the operator: verifies the signature, then rejects prompts about maps.
const server = createServer(async (request, response) => {
  const body = await text(request)
  await Signature.verify({ body, headers: request.headers, secret })
  const { prompt } = JSON.parse(body).data
  response.end(JSON.stringify({ verdict: prompt.includes("map") ? "reject" : "accept", reason: "copyright" }))
})
await once(server.listen(0, "127.0.0.1"), "listening")
const { port } = server.address() as AddressInfo

const check = Effect.fn("check")(function*(prompt: string) {
  const { checkInput } = yield* Moderation.Moderation
  const verdict = yield* checkInput({ id: "gen_1", account: "acct_1", model: "still", prompt, images: [] })
  yield* Console.log(verdict._tag, verdict._tag === "Rejected" ? verdict.reason : "")
})

const layer = HttpModeration.layer({ url: `http://127.0.0.1:${port}/`, private: true, secret: Redacted.make(secret) })
await Effect.runPromise(Effect.provide(Effect.andThen(check("a lake"), check("the map of a game")), layer))
server.close()
// Accepted
// Rejected copyright
