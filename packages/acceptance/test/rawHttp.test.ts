/** The raw client: what it adds to a request, and what it does not change. */
import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as RawHttp from "../src/RawHttp.ts"

describe("RawHttp", () => {
  it("sends JSON with its media type, and a string unchanged", async () => {
    const { client, sent } = recorded()
    await client.post("/v1/generations", { plan: "credits" })
    await client.post("/v1/generations", "{")
    await client.send("/v1/generations", { method: "PUT", json: null, headers: { "content-type": "text/plain" } })
    await client.post("/v1/generations/gen_1/cancel")
    assert.deepStrictEqual(sent.map(({ body, method, type }) => [method, type, body]), [
      ["POST", "application/json", "{\"plan\":\"credits\"}"],
      ["POST", "application/json", "{"],
      ["PUT", "text/plain", "null"],
      ["POST", null, ""]
    ])
  })

  it("sends its token unless the request has credentials", async () => {
    const { client, sent } = recorded()
    const holder = client.withToken("kin_1")
    await client.send("/v1/models")
    await holder.send("/v1/models")
    await holder.withToken("kin_2").send("/v1/models")
    await holder.send("/v1/models", { headers: { authorization: "Basic eDp5" } })
    assert.deepStrictEqual(sent.map(({ authorization }) => authorization), [
      null,
      "Bearer kin_1",
      "Bearer kin_2",
      "Basic eDp5"
    ])
  })

  it("rejects if the check does, also with a token", async () => {
    const check = ({ method, url }: { readonly method: string; readonly url: string }, { status }: Response) =>
      Promise.reject(new Error(`${method} ${url} ${status}`))
    const client = RawHttp.make({ check, fetch: () => Promise.resolve(new Response("", { status: 202 })) })
    for (const sender of [client, client.withToken("kin_1")]) {
      assert.strictEqual(await sender.send("/v1/models").catch(String), "Error: GET /v1/models 202")
    }
  })

  it("appends paths to the base URL, and gives each request a client address unless it has one", async () => {
    const seen: Array<readonly [url: string | undefined, address: string | undefined]> = []
    const server = createServer(({ headers, url }, response) => {
      seen.push([url, headers["x-forwarded-for"]?.toString()])
      response.end()
    })
    await once(server.listen(0, "127.0.0.1"), "listening")
    const { port } = server.address() as AddressInfo
    const client = RawHttp.overSocket(`http://127.0.0.1:${port}`)
    await client.send("//v1/models")
    await client.withToken("kin_1").send(`http://127.0.0.1:${port}/v1/models?limit=1`)
    await client.send("/v1/models", { headers: { "x-forwarded-for": "203.0.113.1" } })
    server.close()
    server.closeAllConnections()
    assert.deepStrictEqual(seen, [
      ["//v1/models", "198.18.0.1"],
      ["/v1/models?limit=1", "198.18.0.2"],
      ["/v1/models", "203.0.113.1"]
    ])
  })

  it("returns the body of an accepted request and throws for another", async () => {
    const client = RawHttp.make({
      fetch: (path) => Promise.resolve(new Response("the body", { status: path === "/right" ? 201 : 404 }))
    })
    assert.strictEqual(await RawHttp.sendAccepted(client, "/right", { method: "POST" }), "the body")
    assert.strictEqual(
      await RawHttp.sendAccepted(client, "/wrong").catch(String),
      "Error: GET /wrong: 404 the body"
    )
  })
})

/** A client that records what it sends, without a server. */
const recorded = () => {
  const sent: Array<{
    readonly method: string
    readonly authorization: string | null
    readonly type: string | null
    readonly body: string
  }> = []
  const client = RawHttp.make({
    fetch: async (path, init) => {
      const request = new Request(`http://service${path}`, init)
      const { headers, method } = request
      // Not `request.headers`, which has the media type that `fetch` chooses for text.
      const type = new Headers(init.headers).get("content-type")
      sent.push({ method, authorization: headers.get("authorization"), type, body: await request.text() })
      return new Response("", { status: 200 })
    }
  })
  return { client, sent }
}
