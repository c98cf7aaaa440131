/** The state of the form. It stays while other pages are open. */
import { useSyncExternalStore } from "react"
import { kinora } from "../../api/call.ts"
import { problemOf } from "../../api/problem.ts"
import type { Generation } from "../../api/types.ts"
import type { Draft, Reference, Value } from "./request.ts"

let draft: Draft = { model: null, prompt: "", plan: "studio", chosen: {}, references: [], job: null }
const listeners = new Set<() => void>()
let keys = 0

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The state of the form. */
export const useDraft = (): Draft => useSyncExternalStore(subscribe, () => draft)

/** Changes the form. */
export const changeDraft = (change: Partial<Draft>): void => {
  draft = { ...draft, ...change }
  for (const listener of listeners) listener()
}

/** Chooses the value of a parameter. */
export const chooseValue = (name: string, value: Value): void =>
  changeDraft({ chosen: { ...draft.chosen, [name]: value } })

/** Takes the settings of a job. Its input images are not kept by the service, so they have to be added again. */
export const restore = (job: Generation): void => {
  const { images: _, ...params } = job.params
  changeDraft({
    job: job.id,
    model: job.model,
    prompt: job.prompt ?? "",
    plan: job.plan,
    chosen: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined)),
    references: []
  })
}

/** Uploads files as input images, at most `max` in total. */
export const addReferences = (files: ReadonlyArray<File>, max: number): void => {
  const images = files.filter(({ type }) => type.startsWith("image/"))
  for (const file of images.slice(0, Math.max(0, max - draft.references.length))) {
    const key = ++keys
    const change = (part: Partial<Reference>) =>
      changeDraft({ references: draft.references.map((one) => one.key === key ? { ...one, ...part } : one) })
    changeDraft({
      references: [...draft.references, { key, preview: URL.createObjectURL(file), id: null, problem: null }]
    })
    kinora.uploads.create(file).then(
      ({ id }) => change({ id }),
      (error: unknown) => change({ problem: problemOf(error).detail })
    )
  }
}

/** Removes an input image. */
export const removeReference = (key: number): void => {
  for (const one of draft.references) if (one.key === key) URL.revokeObjectURL(one.preview)
  changeDraft({ references: draft.references.filter((one) => one.key !== key) })
}
