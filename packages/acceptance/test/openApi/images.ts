/** The image endpoint. */
import { type Findings, type Walk, walk } from "./Walk.ts"

/** Requests images, with and without success. */
export const images = async (findings: Findings): Promise<void> => {
  await walk(findings, { resultTtl: "1 hour" }, oneImage)
  await walk(findings, { account: { credits: 1, creditsPlan: null, studio: null } }, refused)
  await walk(findings, { script: { delay: "hold" } }, late)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const generate = "POST /v1/images/generations"
const wish = { model: "kinora-draft", plan: "credits", prompt: "a lake" }

const oneImage = async ({ host, send }: Walk) => {
  const once = { headers: { "idempotency-key": "once" } }
  await send(generate, { ...wish, response_format: "b64_json", size: "1024x1024" })
  await send(generate, wish, once)
  await send(generate, { ...wish, prompt: "another" }, once)
  await host.clock.advance("2 hours")
  await send(generate, wish, once)
}

const refused = async ({ send }: Walk) => {
  await send(generate, {})
  await send(generate, { ...wish, n: 2, size: "large" })
  await send(generate, { ...wish, model: "nobody" })
  await send(generate, { ...wish, model: "film" })
  await send(generate, { ...wish, model: "paused" })
  await send(generate, "<image/>", { headers: { "content-type": "application/xml" } })
  await send(generate, "x".repeat(48 * 1024 * 1024 + 1))
  for (let n = 0; n < 12; n++) await send(generate, { ...wish, prompt: `${n}` })
}

/** A job that takes longer than the request waits, and one that fails. */
const late = async ({ host, send }: Walk) => {
  const answer = send(generate, wish)
  await host.clock.advance("1 minute")
  await answer
  const failing = send(generate, { ...wish, prompt: "another" })
  await host.clock.advance("10 minutes")
  await failing
}
