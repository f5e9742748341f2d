/** What Python packed with `packed_json`: base64 of deflated JSON. */

export async function unpacked(text: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}
