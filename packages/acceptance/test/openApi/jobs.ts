/** Jobs and their input images. */
import { fieldOf, type Findings, type Walk, walk } from "./Walk.ts"

/** Creates, lists, reads, follows and cancels jobs, with and without success. */
export const jobs = async (findings: Findings): Promise<void> => {
  await walk(findings, {}, oneJob)
  await walk(findings, { script: { delay: "hold" }, workers: 1 }, waitingJobs)
  await walk(findings, { account: { credits: 1, studio: null } }, refusedJobs)
  await walk(findings, { account: { creditsPlan: null } }, manyJobs)
  await walk(findings, { http: { bodiesBytesMax: 10 } }, ({ send }) => send(create, wish))
  await walk(findings, {}, uploads)
  await walk(findings, {}, unsentBodies)
  await walk(findings, { http: { uploadsMax: 0 } }, ({ ask }) => ask("POST /v1/uploads", picture()))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const create = "POST /v1/generations"
const wish = { plan: "credits", model: "kinora-draft", params: { prompt: "a lake" } }

const oneJob = async ({ ask, host, send }: Walk) => {
  const id = fieldOf(await send(create, wish), "id")
  await send(create, wish)
  await host.settled(id)
  await send(create, wish)
  await ask(`GET /v1/generations/${id}`)
  await ask(`GET /v1/generations/${id}?wait=60`)
  await ask(`GET /v1/generations/${id}?wait=soon`)
  await ask(`GET /v1/generations/${id}/events`)
  await ask(`GET /v1/generations/${id}/events`, { headers: { "last-event-id": "completed" } })
  await ask(`HEAD /v1/generations/${id}/events`)
  await ask(`POST /v1/generations/${id}/cancel`)
  await ask("GET /v1/generations?kind=image&status=completed&plan=credits&limit=1")
  await ask("GET /v1/generations?limit=0&cursor=nobody")
  await ask("GET /v1/usage")
  await ask(`GET /admin/v1/generations/${id}/ledger`, { apiKey: host.adminToken })
}

/** One job runs, one waits for a worker, and the others wait for a slot. */
const waitingJobs = async ({ ask, host, send }: Walk) => {
  const made = async (params: object) => fieldOf(await send(create, { ...wish, params }), "id")
  const failing = await made({ prompt: "0" })
  const cancelled = await made({ prompt: "1" })
  const followed = ask(`GET /v1/generations/${failing}/events`)
  await host.generator.started(failing)
  await ask(`GET /v1/generations/${failing}`)
  await ask(`POST /v1/generations/${failing}/cancel`)
  await ask(`POST /v1/generations/${cancelled}/cancel`)
  await host.generator.fail(failing, { code: "content_rejected", reason: "safety" })
  await followed
  await ask(`GET /v1/generations/${failing}`)
  await ask(`POST /v1/generations/${cancelled}/cancel`, { body: "x".repeat(1024 * 1024 + 1) })
  for (let n = 2; n < 40; n++) await send(create, { ...wish, params: { prompt: `${n}` } })
  await ask("GET /v1/generations?limit=100")
}

const refusedJobs = async ({ send }: Walk) => {
  await send(create, {})
  await send(create, "{")
  await send(create, { ...wish, model: "nobody" })
  await send(create, { ...wish, model: "paused" })
  await send(create, { ...wish, params: { prompt: "a lake", images: [{ upload_id: "upl_nobody" }] } })
  await send(create, wish)
  await send(create, { ...wish, plan: "studio" })
  await send(create, wish, { headers: { "idempotency-key": "" } })
  await send(create, "<job/>", { headers: { "content-type": "application/xml" } })
  await send(create, "x".repeat(48 * 1024 * 1024 + 1))
}

/** More creations than the free level permits per minute, in pairs with one key. */
const manyJobs = async ({ send }: Walk) => {
  for (let n = 0; n < 12; n++) {
    await send(create, { ...wish, params: { prompt: `${n}` } }, { headers: { "idempotency-key": `key ${n % 10}` } })
  }
  await send(create, { ...wish, params: { prompt: "another" } })
}

const uploads = async ({ ask, send }: Walk) => {
  const form = new FormData()
  form.set("file", new Blob([pixel], { type: "image/png" }), "pixel.png")
  const id = fieldOf(await ask("POST /v1/uploads", { body: form }), "id")
  await ask("POST /v1/uploads", picture())
  const images = [{ upload_id: id }, { data: pixel.toString("base64") }]
  await send(create, { ...wish, model: "kinora-still", params: { prompt: "a lake", images } })
  await ask("GET /v1/generations")
  await ask(`DELETE /v1/uploads/${id}`)
  await ask("POST /v1/uploads", picture(Buffer.from("nothing")))
  await ask("POST /v1/uploads", picture(pixel, "text/plain"))
  await ask("POST /v1/uploads", picture(Buffer.alloc(11 * 1024 * 1024)))
}

const unsentBodies = async ({ ask, host }: Walk) => {
  const send = (request: string, type: string) =>
    ask(request, { headers: { "content-type": type }, body: new ReadableStream(), duplex: "half" })
  const answers = Promise.all([
    send("POST /v1/generations", "application/json"),
    send("POST /v1/images/generations", "application/json"),
    send("POST /v1/uploads", "image/png")
  ])
  await host.clock.advance("1 minute")
  await answers
}

const picture = (body = pixel, type = "image/png") => ({ headers: { "content-type": type }, body })

/** The smallest PNG. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)
