/** Jobs on the wire. See docs/reference/http-api.md#the-job-object. */
import type { File, Generation } from "@kinora/generations/Generation"
import { isFinal } from "@kinora/generations/Generation"
import type * as Wire from "@kinora/http-api/Generation"
import { UrlSigner } from "@kinora/storage"
import { DateTime } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"

/** Where links to files point, and how they are signed. */
export interface Links {
  readonly baseUrl: string
  readonly signer: UrlSigner.UrlSigner["Service"]
  /** The latest expiry. By default links expire with the result, so that every poll returns the same links. */
  readonly until?: DateTime.Utc
}

/**
 * The links in the response to a request: on `baseUrl`, or else on the origin that the client used. Without a link the
 * origin is not computed.
 */
export const linksOf = (
  signer: UrlSigner.UrlSigner["Service"],
  request: { readonly origin: string },
  { baseUrl }: HttpServerOptions
): Links => ({
  signer,
  get baseUrl() {
    return baseUrl ?? request.origin
  }
})

/** The path of a job. */
export const pathOf = (id: string): string => `/v1/generations/${id}`

/** The path of a file of a job, which the signature of a link covers. */
export const filePathOf = (id: string, file: string): string => `${pathOf(id)}/${file}`

/**
 * Converts a job to its encoded form. The type of the contract checks the properties,
 * so the response is not encoded by schema again.
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
    watermark: generation.watermark,
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

/** Signs a URL of a file that is valid until a time. */
export const linkTo = (id: string, file: File, expiresAt: DateTime.Utc, { baseUrl, signer }: Links): string =>
  UrlSigner.urlOf(signer, baseUrl, filePathOf(id, file), expiresAt)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The files that can be downloaded, and the expiry of links to them. `undefined` without a result. */
const openOf = ({ output, resultExpiresAt }: Generation, now: DateTime.Utc, { until }: Links) => {
  if (output === null || resultExpiresAt === null) return undefined
  if (DateTime.isLessThanOrEqualTo(resultExpiresAt, now)) return undefined
  return { files: output, until: until === undefined ? resultExpiresAt : DateTime.min(until, resultExpiresAt) }
}

const pollAfterSeconds = ({ kind, status }: Generation): number => status === "pending" || kind === "video" ? 5 : 1

/** Rounds a time down like `exp` of a link. */
const wholeSeconds = (time: DateTime.Utc) => DateTime.startOf(time, "second")

const formatNullable = (time: DateTime.Utc | null) => time === null ? null : DateTime.formatIso(time)

/** The parameters of the contract. Models can have others, which are not returned. */
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
