import { Duration, Layer } from "effect"
import type { GenerationRequest } from "../src/GenerationRequest.ts"
import { Lost, Permanent, Transient, UnknownOutcome } from "../src/GeneratorError.ts"
import * as ScriptedGenerator from "../src/ScriptedGenerator.ts"
import { type ContractOptions, type Fault, suite } from "../src/testing.ts"

const transient = new Transient({ retryAfter: Duration.seconds(3) })
const rejected = new Permanent({ code: "content_rejected", reason: "safety", message: "Not this." })

/** Scripts by prompt. */
const scripts: Readonly<Record<string, ScriptedGenerator.Script>> = {
  "a lake": { delay: "3 seconds" },
  "hold": { delay: "hold" },
  "rejected at once": { submitErrors: [rejected] },
  "rejected later": { delay: "2 seconds", outcome: rejected },
  "busy": { submitErrors: [transient] },
  "busy while polling": { pollErrors: [transient] },
  "busy while collecting": { collectErrors: [transient] },
  "broken off": { bodyErrors: [transient] },
  "unknown": { submitErrors: [new UnknownOutcome()] },
  "lost": { pollErrors: [new Lost()] },
  "lost result": { collectErrors: [new Lost()] }
}

const scripted = (resubmit: "safe" | "unsafe") =>
  ScriptedGenerator.layer.pipe(
    Layer.provide(ScriptedGenerator.layerControl({
      resubmit,
      script: ({ prompt }: GenerationRequest) => scripts[prompt] ?? {}
    }))
  )

const fault = (prompt: string, call: Fault["call"], reason: Fault["reason"], rest: Partial<Fault> = {}): Fault => ({
  when: `the prompt is "${prompt}"`,
  call,
  reason,
  request: { prompt },
  ...rest
})

const options = {
  running: { prompt: "hold" },
  images: { mode: "image_to_image", file: new Uint8Array(20), mime: "image/png", width: 1, height: 1 }
} satisfies Partial<ContractOptions<never>>

const everywhere = [
  fault("rejected at once", "submit", "Permanent", { code: "content_rejected" }),
  fault("rejected later", "poll", "Permanent", { code: "content_rejected" }),
  fault("busy", "submit", "Transient", { retryAfter: "3 seconds" }),
  fault("busy while polling", "poll", "Transient"),
  fault("busy while collecting", "collect", "Transient"),
  fault("broken off", "collect", "Transient")
]

suite("scripted, safe to resubmit", {
  ...options,
  generator: scripted("safe"),
  faults: [...everywhere, fault("lost", "poll", "Lost"), fault("lost result", "collect", "Lost")]
})

suite("scripted, unsafe to resubmit", {
  ...options,
  generator: scripted("unsafe"),
  faults: [...everywhere, fault("unknown", "submit", "UnknownOutcome")]
})
