/** A generation as clients see it: exactly the fields of the interface (D5, D10). */
import type { File, Generation } from "@kinora/generations/Generation"
import { isFinal } from "@kinora/generations/Generation"
import type * as Wire from "@kinora/http-api/Generation"
import type { UrlSigner } from "@kinora/storage"
import { DateTime } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import type { RequestState } from "./currentRequest.ts"

/** Makes links to files on `baseUrl`. */
export interface Links {
  readonly baseUrl: string
  readonly signer: UrlSigner.UrlSigner["Service"]
  /** When they end at the latest; absent: with the download window, so that they are the same at every poll. */
  readonly until?: DateTime.Utc
}

/** The links that answer a request (D26a). */
export const linksOf = (
  signer: UrlSigner.UrlSigner["Service"],
  state: RequestState,
  { baseUrl }: HttpServerOptions
): Links => ({ baseUrl: baseUrl ?? state.origin, signer })

/** The path of a job. */
export const pathOf = (id: string): string => `/v1/generations/${id}`

/** The path of a file of a job: what the signature of a link binds. */
export const filePathOf = (id: string, file: string): string => `${pathOf(id)}/${file}`

/**
 * The job object in its encoded form. The contract's type says which fields there
 * are, so that nothing is encoded by schema again on the way out.
 */
export const toWire = (
  generation: Generation,
  now: DateTime.Utc,
  links: Links
): typeof Wire.Generation.Encoded => {
  const { createdAt, failure, finishedAt, resultExpiresAt, startedAt, status } = generation
  const open = openOf(generation, now, links)
  const link = (file: File) =>
    open === undefined || open.files[file] === null ? null : linkTo(generation.id, file, open.until, links)
  const contentUrl = link("content")
  const createdText = DateTime.formatIso(createdAt)
  return {
    id: generation.id,
    model: generation.model,
    kind: generation.kind,
    mode: generation.mode,
    plan: generation.plan,
    status,
    prompt: generation.prompt,
    params: paramsOf(generation),
    cost_credits: generation.costCredits,
    quota_kind: generation.quotaKind,
    watermark: false,
    refunded: generation.refunded,
    error_code: failure === null ? null : failure.code,
    error: failure === null ? null : { code: failure.code, message: failure.message, reason: failure.reason },
    output: open === undefined || contentUrl === null
      ? null
      : {
        url: contentUrl,
        mime: open.files.content.mime,
        bytes: open.files.content.bytes,
        expires_at: DateTime.formatIso(wholeSeconds(open.until))
      },
    preview_url: link("preview"),
    thumb_url: link("thumb"),
    poster_url: link("poster"),
    result_expires_at: formatNullable(resultExpiresAt),
    queued_at: createdText,
    started_at: formatNullable(startedAt),
    finished_at: formatNullable(finishedAt),
    created_at: createdText,
    ...(isFinal(status) ? {} : { next: { action: "poll", after_seconds: pollAfterSeconds(generation) } })
  }
}

/** A signed URL of a file, good until a time. */
export const linkTo = (id: string, file: File, expiresAt: DateTime.Utc, { baseUrl, signer }: Links): string => {
  const path = filePathOf(id, file)
  const { exp, sig } = signer.sign(path, expiresAt)
  return `${baseUrl}${path}?exp=${exp}&sig=${sig}`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The files that can be fetched now, and when links to them end; `undefined`: there are none, or none any more. */
const openOf = ({ output, resultExpiresAt }: Generation, now: DateTime.Utc, { until }: Links) => {
  if (output === null || resultExpiresAt === null) return undefined
  if (DateTime.isLessThanOrEqualTo(resultExpiresAt, now)) return undefined
  return { files: output, until: until === undefined ? resultExpiresAt : DateTime.min(until, resultExpiresAt) }
}

/** D11. */
const pollAfterSeconds = ({ kind, status }: Generation): number => status === "pending" || kind === "video" ? 5 : 1

/** What `exp` of a link keeps of a time. */
const wholeSeconds = (time: DateTime.Utc) => DateTime.startOf(time, "second")

const formatNullable = (time: DateTime.Utc | null) => time === null ? null : DateTime.formatIso(time)

/** The parameters that the interface names; a model may have more. Images without their bytes. */
const paramsOf = ({ images, params }: Generation): (typeof Wire.Generation.Encoded)["params"] => {
  const { aspect_ratio, duration, resolution } = params
  return {
    ...(typeof aspect_ratio === "string" ? { aspect_ratio } : {}),
    ...(typeof duration === "number" ? { duration } : {}),
    ...(typeof resolution === "string" ? { resolution } : {}),
    ...(images.length === 0
      ? {}
      : { images: images.map(({ height, index, mime, width }) => ({ index, mime, width, height })) })
  }
}
