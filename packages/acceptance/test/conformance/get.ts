/** Getting a job and waiting for its end. */
import { expect } from "@effect/vitest"
import type { Account } from "../../src/conformance/Stage.ts"
import * as Calls from "./calls.ts"
import type { Job } from "./calls.ts"
import type { Define } from "./Suite.ts"

/** Starts a waiting request and reports whether it has returned. */
const poll = (account: Account, id: string, seconds: number) => {
  const state = { isOver: false }
  const answer = Calls.read(account, id, `?wait=${seconds}`).finally(() => {
    state.isOver = true
  })
  return { answer, state }
}

export const get = ({ holds, inTime }: Define): void => {
  holds("waiting.waits", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account)
    expect((await account.send(`/v1/generations/${id}`)).status).toBe(200)
    const unknown = await account.send("/v1/generations/gen_01q3dcbd00evhthzyyqsfhxazr")
    await Calls.refusalOf(unknown, 404, "not_found")
  })

  holds("identifiers.malformed", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account)
    for (
      const wrong of ["x", "gen_", id.toUpperCase(), `${id}0`, id.replace("gen_", "upl_"), "%F0%9F%8F%9E", "a%20b"]
    ) {
      await Calls.refusalOf(await account.send(`/v1/generations/${wrong}`), 404, "not_found")
      await Calls.refusalOf(await Calls.cancel(account, wrong), 404, "not_found")
      await Calls.refusalOf(await account.send(`/v1/generations/${wrong}/content`), 404, "not_found")
    }
  })

  holds("waiting.waits", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account)
    const response = await account.send(`/v1/generations/${id}`)
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringMatching(/^application\/json\b/)
    ])
    expect((await Calls.jsonOf<Job>(response)).id).toBe(id)
  })

  inTime("waiting.waits", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account, { model: "in-a-minute" })
    const short = poll(account, id, 11)
    await stage.advance("1 second")
    const long = poll(account, id, 60)
    await stage.advance("9999 millis")
    expect([short.state.isOver, long.state.isOver]).toEqual([false, false])
    await stage.advance("1 millis")
    expect([short.state.isOver, long.state.isOver]).toEqual([true, false])
    expect((await short.answer).status).toBe("processing")
    await stage.advance("49 seconds")
    expect((await long.answer).status).toBe("completed")
    expect((await Calls.read(account, id, "?wait=0")).status).toBe("completed")
  })

  inTime("waiting.max", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account, { model: "slow" })
    const waiting = [61, 3_600, 2 ** 31, Number.MAX_SAFE_INTEGER].map((seconds) => poll(account, id, seconds))
    await stage.advance("59999 millis")
    expect(waiting.map(({ state }) => state.isOver)).toEqual([false, false, false, false])
    await stage.advance("1 millis")
    for (const { answer } of waiting) expect((await answer).status).toBe("processing")
  })

  holds("waiting.invalid", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account)
    for (const wait of ["-1", "1.5", "soon", "", "1e1", "0x10", "%20 1"]) {
      await Calls.refusalOf(await account.send(`/v1/generations/${id}?wait=${wait}`), 400, "invalid_params")
    }
  })

  holds("waiting.final", async (stage) => {
    const account = await stage.openAccount()
    // A second waiting request would exceed the timeout of the test.
    const { id } = await Calls.createJob(account)
    expect((await Calls.read(account, id, "?wait=60")).status).toBe("completed")
    const over = await Promise.all(Calls.numbers(5).map(() => Calls.read(account, id, "?wait=60")))
    expect(new Set(over.map(({ status }) => status))).toEqual(new Set(["completed"]))
  })

  holds("waiting.places", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.processing(account)
    const left = new AbortController()
    const waiting = Calls.numbers(20).map(() =>
      account.send(`/v1/generations/${id}?wait=60`, { signal: left.signal }).catch(() => undefined)
    )
    // One of 21 returns at once. Which one is undetermined.
    const beyond = Calls.numbers(1).map(() => account.send(`/v1/generations/${id}?wait=60`, { signal: left.signal }))
    const first = await Promise.race([...waiting, ...beyond])
    expect([first?.status, (await Calls.jsonOf<Job>(first ?? new Response("{}"))).status]).toEqual([200, "processing"])
    left.abort()
    await Promise.allSettled([...waiting, ...beyond])
  })

  inTime("waiting.disconnect", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account, { model: "slow" })
    const left = new AbortController()
    const gone = Calls.numbers(20).map(() =>
      account.send(`/v1/generations/${id}?wait=60`, { signal: left.signal }).catch(() => "gone")
    )
    await stage.advance("1 second")
    expect((await Calls.read(account, id, "?wait=60")).status).toBe("processing")
    left.abort()
    expect(await Promise.all(gone)).toEqual(Array(20).fill("gone"))
    await stage.advance("1 millis")
    const { answer, state } = poll(account, id, 60)
    await stage.advance("59 seconds")
    expect(state.isOver).toBe(false)
    await stage.advance("1 second")
    expect((await answer).status).toBe("processing")
  })
}
