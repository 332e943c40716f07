/** PNG images whose width is a number, so that it survives decoding and encoding. */

import { deflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A gray image of one row that is `number` pixels wide. */
export function image(number) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(number, 0);
  header.writeUInt32BE(1, 4);
  header[8] = 8;
  const row = Buffer.alloc(1 + number, 128);
  row[0] = 0;
  const chunks = [chunk("IHDR", header), chunk("IDAT", deflateSync(row)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([SIGNATURE, ...chunks]);
}

/** The number of an image; throws if the bytes are not a PNG. */
export function numberOf(bytes) {
  if (bytes.length < 24 || !bytes.subarray(0, 8).equals(SIGNATURE)) throw new Error("The response is not a PNG image.");
  return bytes.readUInt32BE(16);
}

function chunk(type, data) {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  const check = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, check]);
}

/** The checksum of PNG (ISO/IEC 15948 §5.5); zlib.crc32 is missing from Debian's version of Node.js. */
function crc32(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}
