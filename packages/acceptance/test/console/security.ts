/** Tests of what browsers keep, send and show of a session. */
import { assert } from "@effect/vitest"
import { Schema } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Tab } from "../../src/console/Tab.ts"
import { answerData, refusal } from "./answers.ts"
import * as CommonStates from "./commonStates.ts"
import * as Keys from "./keys.ts"
import { openPage, signOut } from "./memberWalk.ts"
import { markup, poison, poisonedPages } from "./poison.ts"
import * as SignIn from "./signIn.ts"
import type { Define } from "./Stand.ts"
import type { Visit } from "./Visitor.ts"

/** Declares the tests. */
export const declare = (test: Define, visit: Visit): void => {
  test("renders text of users, receivers and upstreams as text on every page", async (stand) => {
    const visitors = await visit(stand)
    const missing: Array<string> = []
    for (const { name, path, viewer } of poisonedPages) {
      const tab = visitors[viewer]
      await CommonStates.restoring(tab, async () => {
        await answerData(tab.page, poison)
        await tab.page.goto(`${stand.baseUrl}/console${path(visitors.ids)}`)
        const shown = tab.page.getByText(markup).first().waitFor({ state: "attached" })
        await shown.catch(() => missing.push(name))
        await assertInert(tab, name)
      })
    }
    assert.deepStrictEqual(missing, [])
  })

  test("renders errors and ids of requests as text", async (stand) => {
    const { account: tab } = await visit(stand)
    await CommonStates.restoring(tab, async () => {
      await answerData(tab.page, refusal(500, markup, markup, { "x-request-id": markup }))
      await tab.page.goto(`${stand.baseUrl}/console/keys`)
      const alert = tab.page.getByRole("alert").first()
      await alert.getByText(`${markup} · ${markup}`).waitFor()
      await assertInert(tab, "error")
    })
  })

  test("removes the code of a link from the address and the history, also if somebody is signed in", async (stand) => {
    const account = await stand.openAccount()
    const tab = await stand.open()
    for (const _ of ["signed out", "signed in"]) {
      await SignIn.byLink(tab, await stand.accountLink(account.id))
      await tab.page.waitForURL(({ hash }) => hash === "")
      assert.notInclude(JSON.stringify(await historyOf(tab)), "code=")
      await tab.page.goto("about:blank")
    }
  })

  test("stays on its own origin after the sign-in", async (stand) => {
    const account = await stand.openAccount()
    const paths = [
      "//evil.example",
      "/\\evil.example",
      "/%2F%2Fevil",
      "//evil",
      "/?redirect=//evil.example",
      "/keys#//evil"
    ]
    const tab = await stand.open()
    for (const path of paths) {
      const url = `${stand.baseUrl}/console${path}`
      const { status } = await stand.send(`/console${path}`, { redirect: "manual" })
      // A path with an extension is that of a file, which does not exist.
      if (status === 404) continue
      assert.strictEqual(status, 200, path)
      await SignIn.byKey(tab, url, account.key)
      assert.strictEqual(new URL(tab.page.url()).origin, stand.baseUrl, path)
      await tab.context.clearCookies()
    }
  })

  test("shows nothing of the account after the sign-out and Back", async (stand) => {
    const account = await stand.openAccount()
    const tab = await stand.open()
    await SignIn.byLink(tab, await stand.accountLink(account.id))
    await openPage(tab.page, "API keys")
    await tab.page.getByText("conformance", { exact: true }).waitFor()
    await signOut(tab)
    await tab.page.goBack()
    await tab.page.getByRole("heading", { name: "Sign in to Kinora" }).waitFor()
    const html = await tab.page.content()
    for (const text of [account.email, account.id, "conformance"]) assert.notInclude(html, text)
  })

  test("keeps the session in a cookie that scripts cannot read, and never adopts a planted one", async (stand) => {
    const { key } = await stand.openAccount()
    const tab = await stand.open()
    const { port } = new URL(stand.baseUrl)
    const planted = { name: `kinora_${port}`, value: "planted", url: stand.baseUrl }
    await tab.context.addCookies([planted])
    await SignIn.byKey(tab, `${stand.baseUrl}/console/`, key)
    const [cookie, ...others] = await tab.context.cookies()
    assert.deepStrictEqual(others, [])
    assert.deepInclude(cookie, {
      name: planted.name,
      domain: "127.0.0.1",
      path: "/",
      httpOnly: true,
      sameSite: "Strict",
      // Plain HTTP, for which browsers keep no cookie with it.
      secure: false
    })
    assert.notStrictEqual(cookie?.value, planted.value)
    assert.isAbove(cookie?.expires ?? 0, 0)
    assert.strictEqual(await tab.evaluate("document.cookie"), "")
  })

  test("keeps no API key in the browser", async (stand) => {
    const { id, key } = await stand.openAccount()
    const tab = await stand.open()
    await SignIn.byKey(tab, `${stand.baseUrl}/console/`, key)
    await assertForgotten(tab, key)
    await SignIn.byLink(tab, await stand.accountLink(id))
    await openPage(tab.page, "API keys")
    await assertForgotten(tab, await Keys.create(tab.page, "Night job"))
  })

  test("rejects a change from a page at another port, and refuses to be framed", async (stand) => {
    const { id } = await stand.openAccount()
    const tab = await stand.open()
    const { context, page } = tab
    await SignIn.byLink(tab, await stand.accountLink(id))
    await using other = await serve(
      `<!doctype html><title>Other</title><iframe src="${stand.baseUrl}/console/"></iframe>`
    )
    await page.goto(other.url)
    assert.isNotEmpty(await context.cookies(stand.baseUrl))
    const refused = page.waitForResponse(`${stand.baseUrl}/console/v1/keys`)
    await tab.evaluate(`fetch("${stand.baseUrl}/console/v1/keys", {
      method: "POST", mode: "no-cors", credentials: "include", body: '{"name":"forged"}'
    }).then(() => true)`)
    assert.strictEqual((await refused).status(), 403)
    const frame = page.frames().find((one) => one !== page.mainFrame())
    assert.strictEqual(frame?.url(), "chrome-error://chromewebdata/")
    const [problem = "", ...rest] = tab.takeProblems()
    assert.include(problem, "frame-ancestors 'none'")
    assert.deepStrictEqual(rest, [])
    await page.goto(`${stand.baseUrl}/console/keys`)
    await page.getByText("conformance", { exact: true }).waitFor()
    assert.strictEqual(await page.getByText("forged").count(), 0)
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Asserts that no markup became an element, and that none of its scripts ran. */
const assertInert = async (tab: Tab, name: string): Promise<void> => {
  const elements = await tab.evaluate("document.querySelectorAll('[onerror], [src=x], [href^=javascript]').length")
  assert.deepStrictEqual([elements, await tab.evaluate("typeof hacked")], [0, "undefined"], name)
  assert.deepStrictEqual(tab.takeProblems(), [], name)
}

const Strings = Schema.fromJsonString(Schema.Array(Schema.String))

/** Asserts that neither storage nor the page contains a secret. */
const assertForgotten = async (tab: Tab, secret: string): Promise<void> => {
  const kept = await tab.evaluate(`JSON.stringify([
    JSON.stringify(localStorage), JSON.stringify(sessionStorage), JSON.stringify(history.state), location.href,
    document.documentElement.outerHTML,
    ...Array.from(document.querySelectorAll("input, textarea"), ({ value }) => value)
  ])`)
  assert.match(secret, /^kin_/)
  for (const text of Schema.decodeUnknownSync(Strings)(kept)) assert.notInclude(text, secret)
  assert.deepStrictEqual(await tab.evaluate("indexedDB.databases()"), [])
}

const historyOf = async ({ context, page }: Tab): Promise<ReadonlyArray<string>> => {
  const devTools = await context.newCDPSession(page)
  const { entries } = await devTools.send("Page.getNavigationHistory")
  await devTools.detach()
  return entries.map(({ url }) => url)
}

/** Serves a page at another port. */
const serve = async (html: string): Promise<AsyncDisposable & { readonly url: string }> => {
  const server = createServer((_, response) => void response.writeHead(200, { "content-type": "text/html" }).end(html))
  await once(server.listen(0, "127.0.0.1"), "listening")
  // A server that listens on TCP has such an address.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    }
  }
}
