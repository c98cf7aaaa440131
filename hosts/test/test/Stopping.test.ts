import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import * as TestHost from "../src/TestHost.ts"
import { createdId, read } from "./Requests.ts"

it("returns waiting requests when the host stops", async () => {
  const kinora = await TestHost.start({ script: { delay: "hold" } })
  const id = await createdId(kinora)
  await kinora.generator.started(id)
  const polled = read(kinora, id, "?wait=60")
  const rejected = expect(kinora.settled(id)).rejects.toThrow("stopped before the job")
  await Promise.all([kinora.stop(), kinora.stop()])
  expect((await polled).status).toBe("processing")
  await rejected
})

it("rejects requests after the host has stopped", async () => {
  const kinora = await TestHost.start()
  const url = await kinora.listen()
  await kinora.stop()
  await expect(kinora.fetch("/v1/models")).rejects.toThrow("The test host has stopped")
  await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed")
})

it("stops while a download is not read", async () => {
  const kinora = await TestHost.start({ script: { bytes: 50_000_000 } })
  const id = await createdId(kinora)
  await kinora.settled(id)
  const url = await kinora.listen()
  const headers = { authorization: `Bearer ${kinora.apiKey}` }
  const response = await fetch(`${url}/v1/generations/${id}/content`, { headers })
  await kinora.fetch(`/v1/generations/${id}/content`)
  await kinora.stop()
  await expect(response.bytes()).rejects.toThrow("terminated")
})

/** Uses every part of a host, and prints what keeps the process alive after it has stopped. */
const program = `
  import { TestHost } from "@kinora/host-test"
  const use = async (options) => {
    const kinora = await TestHost.start(options)
    const response = await kinora.fetch("/v1/generations", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ plan: "credits", model: "kinora-still", params: { prompt: "a lake" } })
    })
    const { id } = await response.json()
    await kinora.settled(id)
    const headers = { authorization: "Bearer " + kinora.apiKey, connection: "close" }
    const polled = await fetch(await kinora.listen() + "/v1/generations/" + id, { headers })
    await polled.text()
    await kinora.stop()
  }
  await use({})
  await use({ time: "real", procedural: true })
  const left = process.getActiveResourcesInfo().filter((name) => !name.startsWith("Pipe"))
  console.log(JSON.stringify(left))
`

it("leaves no timer, socket or thread that keeps the process alive", async () => {
  const args = ["--conditions=@kinora/source", "--input-type=module", "--eval", program]
  const cwd = new URL("..", import.meta.url)
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, timeout: 100_000 })
  expect(JSON.parse(stdout)).toEqual([])
})
