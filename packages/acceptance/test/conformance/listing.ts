/** The list of jobs and the event stream of a job. */
import { expect } from "@effect/vitest"
import * as Calls from "./calls.ts"
import type { Job } from "./calls.ts"
import type { Define } from "./Suite.ts"

const idsOf = ({ data }: Calls.Page) => data.map(({ id }) => id)

/** Jobs of all events, in order. */
const eventsOf = (text: string): ReadonlyArray<Job> =>
  text.split("\n\n").flatMap((event) => {
    const lines = event.split("\n").filter((line) => line !== "" && !/^(?:retry)?:/.test(line))
    if (lines.length === 0) return []
    expect(lines).toContain("event: generation")
    const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice("data:".length)).join("\n")
    return [JSON.parse(data) as Job]
  })

export const listing = ({ holds, inTime }: Define): void => {
  holds(["lists.list", "lists.response"], async (stage) => {
    const [account, other] = [await stage.openAccount(), await stage.openAccount()]
    await Calls.createJob(other)
    const made = []
    for (const prompt of ["a", "b", "c"]) made.push((await Calls.ended(account, { params: { prompt } })).id)
    const page = await Calls.listJobs(account)
    expect(Object.keys(page).toSorted()).toEqual(["data", "next_cursor"])
    expect([idsOf(page), page.next_cursor]).toEqual([made.toReversed(), null])
    const { output: _, preview_url: __, thumb_url: ___, ...job } = await Calls.read(account, made[0] ?? "")
    expect(page.data[2]).toMatchObject(job)
  })

  holds(["lists.status", "lists.kind", "lists.plan"], async (stage) => {
    const account = await stage.openAccount()
    const image = await Calls.ended(account)
    const film = await Calls.ended(account, { model: "film" })
    const failed = await Calls.ended(account, { model: "fails", plan: "studio" })
    const filtered = async (query: string) => idsOf(await Calls.listJobs(account, query))
    expect(await filtered("?status=completed")).toEqual([film.id, image.id])
    expect(await filtered("?status=failed")).toEqual([failed.id])
    expect(await filtered("?kind=video")).toEqual([film.id])
    expect(await filtered("?plan=studio")).toEqual([failed.id])
    expect(await filtered("?plan=credits&kind=image&status=completed")).toEqual([image.id])
    for (const query of ["status=done", "kind=sound", "plan=free"]) {
      await Calls.refusalOf(await account.send(`/v1/generations?${query}`), 400, "invalid_params")
    }
  })

  holds(["lists.model", "lists.from", "lists.to"], async (stage) => {
    const account = await stage.openAccount()
    const image = await Calls.createJob(account)
    const film = await Calls.createJob(account, { model: "film" })
    const filtered = async (query: string) => idsOf(await Calls.listJobs(account, query))
    expect(await filtered("?model=film")).toEqual([film.id])
    expect(await filtered(`?model=${image.model}&kind=image`)).toEqual([image.id])
    expect(await filtered("?model=unknown")).toEqual([])
    const before = "from=2001-01-01T00:00:00Z"
    expect(await filtered(`?${before}&to=2001-01-02T00:00:00.5Z`)).toEqual([])
    expect(await filtered(`?${before}&to=9999-01-01T00:00:00Z`)).toEqual([film.id, image.id])
    expect(await filtered("?from=9999-01-01T00:00:00Z&model=film")).toEqual([])
    for (const query of ["model=%00", "from=yesterday", "to=2026-02-31T00:00:00Z"]) {
      await Calls.refusalOf(await account.send(`/v1/generations?${query}`), 400, "invalid_params")
    }
  })

  holds("lists.key", async (stage) => {
    const account = await stage.openAccount()
    await Calls.createJob(account)
    expect((await Calls.listJobs(account, "?key=key_01q3dcbd00evhthzyyqsfhxazr")).data).toEqual([])
    await Calls.refusalOf(await account.send("/v1/generations?key=%00"), 400, "invalid_params")
  })

  holds(["lists.text", "lists.letters", "lists.filtered"], async (stage) => {
    const account = await stage.openAccount()
    const made: Array<Job> = []
    for (const prompt of ["A red Fox", "a red_fox", "Ölberg 100%", "ölig"]) {
      made.push(await Calls.createJob(account, { params: { prompt } }))
    }
    const [fox, snake, hill, oily] = made.map(({ id }) => id)
    const found = async (text: string) => idsOf(await Calls.listJobs(account, `?q=${encodeURIComponent(text)}`))
    expect(await found("RED FOX")).toEqual([fox])
    expect(await found("d_f")).toEqual([snake])
    expect(await found("red")).toEqual([snake, fox])
    expect(await found("%")).toEqual([hill])
    expect(await found("öl")).toEqual([oily, hill])
    expect(await found("green")).toEqual([])
    for (const text of ["", "a".repeat(101), "a\0b"]) {
      const response = await account.send(`/v1/generations?q=${encodeURIComponent(text)}`)
      await Calls.refusalOf(response, 400, "invalid_params")
    }
    const first = await Calls.listJobs(account, "?q=red&limit=1")
    expect(idsOf(first)).toEqual([snake])
    expect(idsOf(await Calls.listJobs(account, `?q=red&limit=1&cursor=${first.next_cursor}`))).toEqual([fox])
  })

  holds(["lists.limit", "lists.cursor"], async (stage) => {
    const account = await stage.openAccount()
    const made = []
    for (const prompt of ["a", "b", "c", "d", "e"]) {
      made.push((await Calls.createJob(account, { params: { prompt } })).id)
    }
    const pages = []
    let cursor: string | null = ""
    while (cursor !== null) {
      const page: Calls.Page = await Calls.listJobs(
        account,
        `?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
      )
      pages.push(idsOf(page))
      cursor = page.next_cursor
    }
    const [a, b, c, d, e] = made
    expect(pages).toEqual([[e, d], [c, b], [a]])
    expect((await Calls.listJobs(account, "?limit=100")).data.length).toBe(5)
    for (const limit of ["0", "101", "-1", "many", ""]) {
      await Calls.refusalOf(await account.send(`/v1/generations?limit=${limit}`), 400, "invalid_params")
    }
    await Calls.refusalOf(await account.send("/v1/generations?cursor=nonsense"), 400, "invalid_params")
  })

  inTime("event-streams.stream", async (stage) => {
    const account = await stage.openAccount({ credits: null })
    await Calls.createJob(account, { model: "in-a-minute", params: { prompt: "first" } })
    const { id } = await Calls.createJob(account, { model: "in-a-minute" })
    const response = await account.send(`/v1/generations/${id}/events`)
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringMatching(/^text\/event-stream\b/)
    ])
    const text = response.text()
    await stage.advance("1 minute")
    await stage.advance("1 minute")
    const jobs = eventsOf(await text)
    const statuses = jobs.map(({ status }) => status)
    expect(statuses.filter((status) => status !== "queued")).toEqual(["pending", "processing", "completed"])
    expect(new Set(jobs.map(({ id }) => id))).toEqual(new Set([id]))
    expect(Object.keys(jobs.at(-1) ?? {}).toSorted()).toEqual(Object.keys(await Calls.read(account, id)).toSorted())
  })

  holds("event-streams.ends", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account)
    const following = eventsOf(await (await account.send(`/v1/generations/${id}/events`)).text())
    expect(following.at(-1)?.status).toBe("completed")
    const over = eventsOf(await (await account.send(`/v1/generations/${id}/events`)).text())
    expect(over.map(({ status }) => status)).toEqual(["completed"])
    const unknown = await account.send("/v1/generations/gen_01q3dcbd00evhthzyyqsfhxazr/events")
    await Calls.refusalOf(unknown, 404, "not_found")
  })

  holds("event-streams.over", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.ended(account)
    const after = (state: string) =>
      account.send(`/v1/generations/${id}/events`, { headers: { "last-event-id": state } })
    expect(await (await after("processing")).text()).toMatch(/^id: completed\n/)
    const over = await after("completed")
    expect([over.status, await over.text()]).toEqual([204, ""])
  })

  holds(["event-streams.counts", "event-streams.retry"], async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.processing(account)
    const left = new AbortController()
    const streams = await Promise.all(
      Calls.numbers(20).map(() => account.send(`/v1/generations/${id}/events`, { signal: left.signal }))
    )
    expect(streams.map(({ status }) => status)).toEqual(Array(20).fill(200))
    // All places are occupied, so neither request waits.
    const polled = await Calls.read(account, id, "?wait=60")
    const text = await (await account.send(`/v1/generations/${id}/events`)).text()
    expect(text).toMatch(/^: too many requests of this key wait.*\n\nid: processing\n(?:.+\n)+\nretry: 5000\n\n$/)
    const followed = eventsOf(text)
    expect([polled.status, followed.map(({ status }) => status)]).toEqual(["processing", ["processing"]])
    left.abort()
    await Promise.allSettled(streams.map((response) => response.text()))
  })
}
