/** The bundled package in environments without Node. */
import { assert, it } from "@effect/vitest"
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { runInNewContext } from "node:vm"
import { gzipSync } from "node:zlib"
import { chromium } from "playwright-core"
import { build } from "rolldown"
import { Signature } from "../src/index.ts"
import { body, event, now, secret } from "./Scene.ts"

/** Bundles an entry as a script that defines the global `signing`. */
const bundle = async (entry: string) => {
  const { output: [{ code, imports }] } = await build({
    input: fileURLToPath(new URL(`../src/${entry}.ts`, import.meta.url)),
    platform: "neutral",
    write: false,
    output: { format: "iife", minify: true, name: "signing" }
  })
  return { code, imports }
}

const { code, imports } = await bundle("index")
const standard = await bundle("standard")

/** Signs, verifies, receives a standard request if the environment has them, and rejects a wrong secret. */
const script = `(async () => {
  const { Secret, Signature, Webhook } = signing
  const [body, secret, timestamp] = ${JSON.stringify([body, secret, now])}
  const header = await Signature.sign({ body, secret, timestamp })
  const request = { body, secret, headers: { "X-Service-Signature": header }, nowMillis: timestamp * 1000 }
  const { event } = await Webhook.verify({ ...request, body: new TextEncoder().encode(body) })
  const reason = await Webhook.verify({ ...request, secret: Secret.generate() }).catch((error) => error.reason)
  if (globalThis.Request === undefined) return JSON.stringify({ header, event, reason })
  const web = new Request("https://shop.example", { ...request, method: "POST" })
  const { event: received } = await Webhook.receive(web, request)
  return JSON.stringify({ header, event, reason, received })
})()`

const expected = {
  header: await Signature.sign({ body, secret, timestamp: now }),
  event,
  reason: "no_match"
}

it("has the size that the README states, no imports and no Node APIs", async () => {
  assert.deepStrictEqual([imports, standard.imports], [[], []])
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8")
  for (const script of [code, standard.code]) {
    assert.notMatch(script, /node:|\brequire\b|\bprocess\b|\bBuffer\b/)
    const kilobytes = Math.ceil(gzipSync(script, { level: 9 }).length / 1000)
    assert.include(readme, `${kilobytes} kB minified and compressed for each format`)
  }
})

it("needs only WebCrypto, TextEncoder and TextDecoder", async () => {
  const answer: Promise<string> = runInNewContext(`${code};${script}`, { crypto, TextEncoder, TextDecoder })
  assert.deepStrictEqual(JSON.parse(await answer), expected)
})

it("verifies Standard Webhooks with WebCrypto, TextEncoder, TextDecoder, atob and btoa", async () => {
  const answer: Promise<string> = runInNewContext(
    `${standard.code};(async () => {
      const [body, secret, timestamp] = ${JSON.stringify([body, secret, now])}
      const headers = await signing.sign({ id: "dlv_1", body, secret, timestamp })
      return JSON.stringify(await signing.receive({ headers, body }, { secret, nowMillis: timestamp * 1000 }))
    })()`,
    { crypto, TextEncoder, TextDecoder, atob, btoa }
  )
  assert.deepStrictEqual(JSON.parse(await answer), { id: "dlv_1", timestamp: now, event })
})

it("runs in Chromium", async (context) => {
  const path = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
    .flatMap((name) => (process.env["PATH"] ?? "").split(delimiter).map((directory) => join(directory, name)))
    .find(existsSync)
  if (path === undefined) {
    assert.notStrictEqual(process.env["CI"], "true", "There is no Chromium; run .ci/chromium")
    return context.skip("NOT TESTED: there is no Chromium; .ci/chromium installs Debian's")
  }
  // Without a sandbox, because the test may run as root. The page is trusted.
  const browser = await chromium.launch({ executablePath: path, args: ["--no-sandbox"] })
  try {
    const page = await browser.newPage()
    // WebCrypto is available on pages over TLS only.
    await page.route("https://shop.example/", (route) => route.fulfill({ contentType: "text/html", body: "" }))
    await page.goto("https://shop.example/")
    await page.addScriptTag({ content: code })
    assert.deepStrictEqual(JSON.parse(await page.evaluate<string>(script)), { ...expected, received: event })
  } finally {
    await browser.close()
  }
})
