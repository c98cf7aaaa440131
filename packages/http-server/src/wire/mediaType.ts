/** Media types in headers. */

/** Returns a media type without its parameters and surrounding space, in lower case, as the framework does. */
export const mediaType = (header: string): string => header.split(";", 1)[0]!.trim().toLowerCase()
