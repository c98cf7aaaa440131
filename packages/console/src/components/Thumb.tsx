/** Thumbnails of results. */
import { useEffect, useState } from "react"
import type { Generation } from "../api/types.ts"
import { Icon } from "./Icon.tsx"
import { names } from "./names.ts"

/** Times that a thumbnail is requested again. Downloads of an account are limited, so many at once can be refused. */
const retriesMax = 5

/** The thumbnail of a job, or the icon of its kind until there is one. */
export const Thumb = ({ className, job }: { readonly job: Generation; readonly className: string }) => {
  const url = job.thumb_url ?? job.poster_url
  return (
    <span className={names("relative block shrink-0 overflow-hidden bg-raised", className)}>
      <Icon name={job.kind === "video" ? "film" : "image"} className="absolute inset-0 m-auto size-4 text-faint" />
      {url !== null && <Retried key={url} url={url} />}
    </span>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Retried = ({ url }: { readonly url: string }) => {
  const [attempt, setAttempt] = useState(0)
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    if (!failed || attempt >= retriesMax) return
    const timer = setTimeout(() => {
      setFailed(false)
      setAttempt(attempt + 1)
    }, 400 * (attempt + 1))
    return () => clearTimeout(timer)
  }, [failed, attempt])
  if (failed) return null
  return (
    <img
      src={url}
      alt=""
      loading="lazy"
      decoding="async"
      onError={() => setFailed(true)}
      className="absolute inset-0 size-full object-cover"
    />
  )
}
