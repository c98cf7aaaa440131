/** Results and the smaller pictures. */
import { fieldOf, type Findings, type Walk, walk } from "./Walk.ts"

/** Downloads files in every way, with and without success. */
export const files = async (findings: Findings): Promise<void> => {
  await walk(findings, {}, downloads)
  await walk(findings, { http: { downloadBytesPerDay: 1 } }, ({ ask, host, send }) =>
    ofAll(async (model, file) => {
      const path = await pathOf({ ask, host, send }, model, file)
      await ask(`GET ${path}`)
      await ask(`HEAD ${path}`)
    }))
  await walk(findings, { script: { delay: "hold" } }, async (walk) => {
    await ofAll(async (model, file) => {
      const id = await create(walk, model)
      await walk.ask(`GET /v1/generations/${id}/${file}`)
      await walk.ask(`HEAD /v1/generations/${id}/${file}`)
    })
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A file and a model whose jobs have it. */
const kinds = { content: "kinora-draft", preview: "kinora-draft", thumb: "kinora-draft", poster: "film" }

const ofAll = async (steps: (model: string, file: string) => Promise<void>) => {
  for (const [file, model] of Object.entries(kinds)) await steps(model, file)
}

const create = async ({ send }: Walk, model: string) =>
  fieldOf(await send("POST /v1/generations", { plan: "credits", model, params: { prompt: "a lake" } }), "id")

const pathOf = async (walk: Walk, model: string, file: string) => {
  const id = await create(walk, model)
  await walk.host.settled(id)
  return `/v1/generations/${id}/${file}`
}

const downloads = async (walk: Walk) => {
  const { ask, host } = walk
  const paths: Array<string> = []
  await ofAll(async (model, file) => {
    const path = await pathOf(walk, model, file)
    paths.push(path)
    const etag = (await ask(`GET ${path}?download=1`)).headers.get("etag") ?? ""
    for (const method of ["GET", "HEAD"]) {
      await ask(`${method} ${path}`)
      await ask(`${method} ${path}`, { headers: { "if-none-match": etag } })
      await ask(`${method} ${path}`, { headers: { "if-match": "\"another\"" } })
      await ask(`${method} ${path}`, { headers: { range: "bytes=1-2" } })
      await ask(`${method} ${path}`, { headers: { range: "bytes=1-2,4-5" } })
      await ask(`${method} ${path}`, { headers: { range: "bytes=999999-" } })
      await ask(`${method} ${path}?exp=1`, { apiKey: null })
      await ask(`${method} ${path}?exp=9999999999&sig=AAAA`, { apiKey: null })
    }
  })
  await host.clock.advance("25 hours")
  for (const path of paths) {
    await ask(`GET ${path}`)
    await ask(`HEAD ${path}`)
  }
}
