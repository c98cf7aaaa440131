/** Models whose cost is known. */
import type { ModelInput } from "@kinora/catalog/Model"

const image = {
  name: "Benchmark",
  kind: "image",
  capabilities: ["text_to_image", "image_to_image"],
  max_reference_images: 4,
  params_schema: [],
  max_prompt_chars: 100,
  price_table: [{ params: {}, credits: 1 }],
  time_limit: "1 minute",
  output_formats: ["image/png"]
} as const

/** Length of the results of `large`, in bytes: more than the buffers of a connection. */
const largeBytes = 64 * 2 ** 20

/** Models of the service. */
export const models = {
  /** Takes no time. */
  quick: { ...image, id: "quick", driver: { name: "scripted", options: { bytes: 4096 } } },
  /** Takes 10 seconds. */
  slow: { ...image, id: "slow", driver: { name: "scripted", options: { bytes: 4096, delay: "10 seconds" } } },
  /** Makes large files. */
  large: {
    ...image,
    id: "large",
    kind: "video",
    capabilities: ["text_to_video"],
    max_reference_images: 0,
    driver: { name: "scripted", options: { bytes: largeBytes } },
    output_formats: ["video/mp4"]
  }
} satisfies Readonly<Record<string, ModelInput>>
