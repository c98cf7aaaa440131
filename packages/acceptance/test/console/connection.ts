/** The sign-in form with a wrong key, and pages after the connection to the server was lost. */
import { assert } from "@effect/vitest"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import type { Page, Response } from "playwright-core"
import { post } from "../../src/console/ConsoleSeed.ts"
import { openPage } from "./memberWalk.ts"
import * as SignIn from "./signIn.ts"
import type { Define } from "./Stand.ts"

/** Declares the tests. */
export const declare = (test: Define): void => {
  test("the sign-in form does not move when a message appears", async (stand) => {
    const { page, takeRefusals } = await stand.open()
    await page.goto(`${stand.baseUrl}/console/`)
    const places = async () => [
      await page.getByLabel("API key").boundingBox(),
      await page.getByRole("button", { name: "Sign in" }).boundingBox()
    ]
    await page.getByLabel("API key").fill("kin_wrong")
    const before = await places()
    assert.notInclude(before, null)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByText("This API key is not valid", { exact: true }).waitFor()
    assert.deepStrictEqual(await places(), before)
    assert.deepStrictEqual(takeRefusals(), ["401 POST /console/v1/session"])
  })

  test("a page follows jobs again after the connection was lost, and after the server was restarted", async (stand) => {
    await using relay = await startRelay(new URL(stand.baseUrl))
    const account = await stand.openAccount()
    const { page, takeRefusals } = await stand.open()
    const link = new URL(await stand.accountLink(account.id))
    const opened = nextStream(page)
    await page.goto(`${relay.url}${link.pathname}${link.hash}`)
    await SignIn.awaitFrame(page)
    await opened
    await openPage(page, "Jobs")
    const generate = async (prompt: string) => {
      await post(account, "/v1/generations", { plan: "studio", model: "kinora-draft", params: { prompt } })
      await page.getByRole("link", { name: prompt }).waitFor()
    }
    await generate("Before")

    const reconnected = nextStream(page)
    relay.drop()
    await reconnected
    await generate("After a lost connection")

    // A proxy in front responds to requests while the server starts, which ends the stream for the browser.
    await page.route("**/console/v1/events*", (route) => route.fulfill({ status: 502, body: "" }))
    const refused = page.waitForResponse((response) => isStream(response) && response.status() === 502)
    relay.drop()
    await refused
    const resumed = nextStream(page)
    await page.unroute("**/console/v1/events*")
    await resumed
    await generate("After a restart")
    takeRefusals()
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isStream = (response: Response): boolean => new URL(response.url()).pathname === "/console/v1/events"

/** The next stream of events that the server opens. */
const nextStream = (page: Page): Promise<Response> =>
  page.waitForResponse((response) => isStream(response) && response.status() === 200, { timeout: 90_000 })

/** A relay in front of the server. `drop` cuts all connections. */
const startRelay = async ({ hostname, port }: URL) => {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      sockets.add(socket)
      socket.on("error", () => undefined).on("close", () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  const drop = () => sockets.forEach((socket) => socket.destroy())
  await once(server.listen(0, "127.0.0.1"), "listening")
  // A server that listens on TCP has such an address.
  const { port: own } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${own}`,
    drop,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close")
      server.close()
      drop()
      await closed
    }
  }
}
