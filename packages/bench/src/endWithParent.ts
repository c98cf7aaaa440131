/** Runs in the process of a server before its program, and ends it when the parent process ends, however that ends. */
process.once("disconnect", () => process.exit(0))
// The channel does not keep the server alive.
process.channel?.unref()
