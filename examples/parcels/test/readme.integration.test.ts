/** The commands of the README, sent to a sender and to a receiver that Next runs. */
import { afterAll, assert, beforeAll, it, vi } from "@effect/vitest"
import { FreePort, PgProgram } from "@kinora/testkit"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const directory = fileURLToPath(new URL("..", import.meta.url))
const env = { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" }
let program: PgProgram.PgProgram

beforeAll(async () => {
  await promisify(execFile)("npm", ["run", "build"], { cwd: directory, env })
  program = await PgProgram.open()
})

afterAll(() => program.close())

/** Starts the program, and returns what ends it. */
const start = async (port: number, secret = ""): Promise<() => Promise<void>> => {
  const next = fileURLToPath(import.meta.resolve("next/dist/bin/next"))
  const server = spawn(process.execPath, [next, "start"], {
    cwd: directory,
    env: { ...env, DATABASE_URL: program.url, PORT: String(port), WEBHOOK_SECRET: secret },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const exit = once(server, "exit")
  const lines = createInterface(server.stdout)
  for await (const line of lines) if (line.includes("Ready")) break
  server.stdout.resume()
  assert.strictEqual(server.exitCode, null)
  return async () => {
    server.kill("SIGTERM")
    await exit
  }
}

/** A command of the README, and the response that the README shows. */
interface Command {
  readonly send: () => Promise<string>
  readonly shown: string
}

const readCommands = async (ports: Readonly<Record<string, number>>): Promise<ReadonlyArray<Command>> => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8")
  const onOwnPorts = readme.replaceAll(/127\.0\.0\.1:(300\d)/g, (_, port: string) => `127.0.0.1:${ports[port]}`)
  return Array.from(onOwnPorts.matchAll(/^curl (http:\S+)(.*)\n# (.*)\n/gm), ([, url = "", rest = "", shown = ""]) => {
    const json = /--json '(.*)'/.exec(rest)?.[1]
    const request = json === undefined ? {} : { method: "POST", body: json, headers: { "x-account": "ada" } }
    return { shown, send: async () => (await fetch(url, request)).text() }
  })
}

it("an event arrives of the parcel that was committed, and none of the one that was rolled back", async () => {
  const ports = { 3000: await FreePort.find(), 3001: await FreePort.find() }
  const [create, ship, refuse, list, ...others] = await readCommands(ports)
  assert.isEmpty(others)
  await using servers = new AsyncDisposableStack()
  servers.defer(await start(ports[3000]))
  const created = await create!.send()
  assert.strictEqual(created.replaceAll(/_\w+"/g, "_…\""), create!.shown)
  const [secret] = /whsec_\w+/.exec(created)!
  servers.defer(await start(ports[3001], secret))
  assert.strictEqual(await ship!.send(), ship!.shown)
  assert.strictEqual(await refuse!.send(), refuse!.shown)
  await vi.waitFor(async () => assert.strictEqual(await list!.send(), list!.shown), { timeout: 30_000, interval: 100 })
  const { rows } = await program.pool.query("SELECT count(*)::int AS deliveries FROM webhooks_delivery")
  assert.deepStrictEqual(rows, [{ deliveries: 1 }])
})

it("the receiver rejects an event with another signature", async () => {
  const port = await FreePort.find()
  await using servers = new AsyncDisposableStack()
  servers.defer(await start(port, "whsec_of_somebody_else_0123456789abcdef"))
  const headers = { "x-parcels-signature": `t=${Math.floor(Date.now() / 1000)},v1=${"0".repeat(64)}` }
  const { status } = await fetch(`http://127.0.0.1:${port}/webhooks`, { method: "POST", body: "{}", headers })
  assert.strictEqual(status, 400)
})
