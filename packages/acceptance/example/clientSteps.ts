import { Kinora, ResponseError } from "@kinora/client"
import { openAsBlob } from "node:fs"
import { writeFile } from "node:fs/promises"

const { BASE = "http://127.0.0.1:4747", KEY = "" } = process.env
const kinora = new Kinora({ baseUrl: BASE, apiKey: KEY })

const upload = await kinora.uploads.create(await openAsBlob("harbour.png"))
const job = await kinora.generations.create({
  plan: "credits",
  model: "kinora-still",
  params: { prompt: "the same by day", images: [{ upload_id: upload.id }] }
}, { idempotencyKey: "order-18" })
for await (const { status } of kinora.generations.events(job.id)) process.stdout.write(`${status}\n`)

const picture = await kinora.generations.content(job.id)
await writeFile("day.png", await picture.bytes())
await kinora.uploads.delete(upload.id)

// A job that has ended cannot be cancelled.
await kinora.generations.cancel(job.id).catch((error: unknown) => {
  if (!(error instanceof ResponseError) || error.code !== "not_cancellable") throw error
})

for await (const { id, model } of kinora.generations.list({ status: "completed" })) {
  process.stdout.write(`${id} ${model}\n`)
}
const { totals } = await kinora.account.usage()
process.stdout.write(`${totals.completed} jobs, ${totals.credits} credits\n`)
