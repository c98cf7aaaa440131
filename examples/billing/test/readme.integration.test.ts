/** The commands of the README, against the process that it starts. */
import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

it.live("the commands of the README print what it shows, and the process ends when it is asked to", () =>
  Effect.gen(function*() {
    const databaseUrl = yield* TestDatabase.postgresUrl
    yield* Effect.promise(async () => {
      const markdown = await readFile(new URL("../README.md", import.meta.url), "utf8")
      const commands = [...markdown.matchAll(/^curl (.*)\n(?:# (.*)\n)?/gm)]
      assert.isAbove(commands.length, 8)
      const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
      const shop = spawn(process.execPath, ["--conditions=@kinora/source", main], {
        env: { ...process.env, DATABASE_URL: databaseUrl, PORT: "0" },
        stdio: ["ignore", "pipe", "inherit"]
      })
      const exit = once(shop, "exit")
      try {
        const [line] = await Promise.race([once(createInterface(shop.stdout), "line"), exit])
        const url = /http:\S+/.exec(String(line))?.[0]
        assert.isDefined(url, `the shop printed "${line}"`)
        for (const [, command = "", printed = ""] of commands) {
          assert.strictEqual(await run(command, url), printed, command)
        }
      } finally {
        shop.kill("SIGTERM")
      }
      assert.deepStrictEqual(await exit, [0, null])
    })
  }))

/** Sends the request of a `curl` command to the shop under test. Returns the body of the response. */
const run = async (command: string, url: string): Promise<string> => {
  const path = /^http:\/\/127\.0\.0\.1:3000(\S+)/.exec(command)?.[1]
  assert.isDefined(path, command)
  const json = / --json '(.*)'$/.exec(command)?.[1]
  const account = / -H 'X-Account: (.*?)'/.exec(command)?.[1]
  const response = await fetch(`${url}${path}`, {
    method: / -X (\S+)/.exec(command)?.[1] ?? (json === undefined ? "GET" : "POST"),
    headers: {
      // The process ends when its connections have ended.
      connection: "close",
      ...account === undefined ? {} : { "x-account": account },
      ...json === undefined ? {} : { "content-type": "application/json" }
    },
    ...json === undefined ? {} : { body: json }
  })
  return response.text()
}
