/** The client. Create one per account and share it. */
import type { Calls } from "./Calls.ts"
import * as Ambient from "./internal/Ambient.ts"
import * as Client from "./internal/Client.ts"
import type { Options } from "./Options.ts"

/** Client of one service and account. A printed client does not contain its key. */
export class Kinora implements Calls {
  readonly generate: Calls["generate"]
  readonly generations: Calls["generations"]
  readonly images: Calls["images"]
  readonly uploads: Calls["uploads"]
  readonly models: Calls["models"]
  readonly account: Calls["account"]
  readonly download: Calls["download"]

  /** Throws `TypeError` if an option is invalid. Sends nothing. */
  constructor(options: Options) {
    const { calls } = Client.make(options, Ambient.make(options.fetch))
    this.generate = calls.generate
    this.generations = calls.generations
    this.images = calls.images
    this.uploads = calls.uploads
    this.models = calls.models
    this.account = calls.account
    this.download = calls.download
  }
}
