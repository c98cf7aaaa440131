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

/** The package as a script that defines the global `signing`. */
const { output: [{ code, imports }] } = await build({
  input: fileURLToPath(new URL("../src/index.ts", import.meta.url)),
  platform: "neutral",
  write: false,
  output: { format: "iife", minify: true, name: "signing" }
})

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
  assert.deepStrictEqual(imports, [])
  assert.notMatch(code, /node:|\brequire\b|\bprocess\b|\bBuffer\b/)
  const kilobytes = Math.ceil(gzipSync(code, { level: 9 }).length / 1000)
  assert.include(await readFile(new URL("../README.md", import.meta.url), "utf8"), `${kilobytes} kB`)
})

it("needs only WebCrypto, TextEncoder and TextDecoder", async () => {
  const answer: Promise<string> = runInNewContext(`${code};${script}`, { crypto, TextEncoder, TextDecoder })
  assert.deepStrictEqual(JSON.parse(await answer), expected)
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
