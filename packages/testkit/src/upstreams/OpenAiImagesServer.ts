/** A server of the images API of OpenAI. It responds when the image is complete. */
import { Effect } from "effect"
import { json } from "./Listener.ts"
import { scripted, sendFile } from "./ScriptedServer.ts"

/** Starts a server whose every image is this file. */
export const openAiImages = (file: { readonly mime: string; readonly bytes: Uint8Array }) =>
  Effect.suspend(() =>
    scripted((request, response) =>
      request.method === "GET"
        ? sendFile(response, file.mime, file.bytes)
        : json(response, 200, { created: 1, data: [{ b64_json: Buffer.from(file.bytes).toString("base64") }] })
    )
  )
