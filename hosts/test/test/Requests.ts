/** The requests that tests send. */
import type { Generation } from "@kinora/http-api/Generation"
import type { Fetch } from "../src/Controls.ts"
import type { RunningHost } from "../src/RunningHost.ts"

/** A job as it travels. */
export type Job = typeof Generation.Encoded

/** An error as it travels. */
interface Refusal {
  readonly error: { readonly code: string }
}

/** Something that sends requests: a host, or one of its accounts. */
interface Sender {
  readonly fetch: Fetch
}

/** What a creating request asks for, besides a picture by `kinora-canvas-1` for credits. */
export interface Wish {
  readonly prompt?: string
  readonly plan?: "studio" | "credits"
  readonly model?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Asks for a picture. */
export const create = (
  { fetch }: Sender,
  { headers, model = "kinora-canvas-1", plan = "credits", prompt = "a lake" }: Wish = {}
): Promise<Response> =>
  fetch("/v1/generations", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ plan, model, params: { prompt } })
  })

/** The id of a new picture. */
export const createdId = async (sender: Sender, wish?: Wish): Promise<string> => {
  const response = await create(sender, wish)
  const job = await jobOf(response)
  if (response.status !== 201) throw new Error(`${response.status} ${JSON.stringify(job)}`)
  return job.id
}

/** The job of a response. */
export const jobOf = async (response: Response) => await response.json() as Job

/** The job as its owner sees it. */
export const read = async ({ fetch }: Sender, id: string, query = "") =>
  jobOf(await fetch(`/v1/generations/${id}${query}`))

/** A picture that is finished, with its result. */
export const createCompleted = async (kinora: RunningHost, wish?: Wish) => {
  const id = await createdId(kinora, wish)
  await kinora.settled(id)
  const { output, ...job } = await read(kinora, id)
  if (output === null) throw new Error(`${id} has no result`)
  return { ...job, output }
}

/** The code of an error's envelope. */
export const codeOf = async (response: Response): Promise<string> => (await response.json() as Refusal).error.code
