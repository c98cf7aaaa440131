/** Requests of tests. */
import type { Generation } from "@kinora/http-api/Generation"
import type { Fetch } from "../src/Controls.ts"
import type { RunningHost } from "../src/RunningHost.ts"

/** A job in JSON. */
export type Job = typeof Generation.Encoded

/** An error in JSON. */
interface Refusal {
  readonly error: { readonly code: string }
}

/** Something that sends requests: a host, or one of its accounts. */
interface Sender {
  readonly fetch: Fetch
}

/** Parameters of a request that creates a job. Default: an image by `kinora-still`, paid with credits. */
export interface Wish {
  readonly prompt?: string
  readonly plan?: "studio" | "credits"
  readonly model?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request that creates a job. */
export const create = (
  { fetch }: Sender,
  { headers, model = "kinora-still", plan = "credits", prompt = "a lake" }: Wish = {}
): Promise<Response> =>
  fetch("/v1/generations", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ plan, model, params: { prompt } })
  })

/** Creates a job and returns its id. */
export const createdId = async (sender: Sender, wish?: Wish): Promise<string> => {
  const response = await create(sender, wish)
  const job = await jobOf(response)
  if (response.status !== 201) throw new Error(`${response.status} ${JSON.stringify(job)}`)
  return job.id
}

/** Decodes the job of a response. */
export const jobOf = async (response: Response) => await response.json() as Job

/** Reads a job. */
export const read = async ({ fetch }: Sender, id: string, query = "") =>
  jobOf(await fetch(`/v1/generations/${id}${query}`))

/** Creates a job and returns it once it is completed. */
export const createCompleted = async (kinora: RunningHost, wish?: Wish) => {
  const id = await createdId(kinora, wish)
  await kinora.settled(id)
  const { output, ...job } = await read(kinora, id)
  if (output === null) throw new Error(`${id} has no result`)
  return { ...job, output }
}

/** Returns the code of an error response. */
export const codeOf = async (response: Response): Promise<string> => (await response.json() as Refusal).error.code
