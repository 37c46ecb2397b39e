#!/usr/bin/env python3
"""Makes small pictures of every kind and form, and writes down the pixels that Pillow reads from them.

    python3 -m venv venv
    venv/bin/pip install pillow==12.3.0 numpy==2.4.6 pillow-heif==1.8.1
    venv/bin/python scripts/goldens_pictures.py

Writes Tests/Fixtures/pictures and goldens.json there. Everything is seeded: a second run writes the same bytes. What Pillow cannot
write is written here byte by byte: PNG of 16 bits, interlaced or with transparent colours, GIF with frames beside the corner, BMP.
"""

import base64
import hashlib
import io
import json
import pathlib
import struct
import zlib

import numpy
import pillow_heif
from PIL import Image, ImageOps, features

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "Tests/Fixtures/pictures"
WIDTH, HEIGHT = 23, 17
files = {}


def levels(width=WIDTH, height=HEIGHT, channels=3, seed=1):
    """A smooth picture with some noise; shape height, width, channels."""
    random = numpy.random.default_rng(seed)
    y, x = numpy.mgrid[0:height, 0:width]
    planes = [127 + 120 * numpy.sin(x / (5 + c) + seed) * numpy.cos(y / (4 + c)) for c in range(channels)]
    noise = random.integers(-9, 10, (height, width, channels))
    return numpy.clip(numpy.stack(planes, -1) + noise, 0, 255).astype(numpy.uint8)


PICTURE = Image.fromarray(levels())


def saved(picture, kind, **options):
    stream = io.BytesIO()
    picture.save(stream, kind, **options)
    return stream.getvalue()


def orientation(number, order="II", kind="H"):
    """EXIF with nothing but an orientation."""
    mark = "<" if order == "II" else ">"
    types = {"B": 1, "H": 3, "L": 4}
    value = struct.pack(mark + kind, number).ljust(4, b"\0")
    entry = struct.pack(mark + "HHL", 0x112, types[kind], 1) + value
    return order.encode() + struct.pack(mark + "HLH", 42, 8, 1) + entry + bytes(4)


XMP = b'<x:xmpmeta><rdf:Description tiff:Orientation="6"/></x:xmpmeta>'


def jpegs():
    for name, options in {
        "420": {}, "422": {"subsampling": "4:2:2"}, "444": {"subsampling": "4:4:4"}, "rgb": {"keep_rgb": True},
        "progressive": {"progressive": True}, "restarts": {"restart_marker_blocks": 1}, "quality-5": {"quality": 5},
    }.items():
        files[f"{name}.jpg"] = saved(PICTURE, "JPEG", **{"quality": 88, **options})
    files["one-pixel.jpg"] = saved(PICTURE.crop((0, 0, 1, 1)), "JPEG")
    files["long.jpg"] = saved(Image.fromarray(levels(3000, 40) // 16 * 16), "JPEG", quality=12)
    files["grey.jpg"] = saved(PICTURE.convert("L"), "JPEG")
    cmyk = Image.fromarray(levels(channels=4, seed=2), "CMYK")
    files["cmyk-adobe.jpg"] = saved(cmyk, "JPEG", quality=90)
    # Without the segment that says who wrote it.
    at = files["cmyk-adobe.jpg"].index(b"\xff\xee")
    files["cmyk.jpg"] = files["cmyk-adobe.jpg"][:at] + files["cmyk-adobe.jpg"][at + 16:]
    for number in range(1, 9):
        order = "II" if number % 2 else "MM"
        files[f"turned-{number}.jpg"] = saved(PICTURE, "JPEG", exif=b"Exif\0\0" + orientation(number, order))
    files["turned-long.jpg"] = saved(PICTURE, "JPEG", exif=b"Exif\0\0" + orientation(8, kind="L"))
    files["turned-xmp.jpg"] = saved(PICTURE, "JPEG", xmp=XMP)


def png(width, height, depth, color, samples, *, chunks=(), interlaced=False):
    """A PNG of samples of shape height, width, channels."""
    def chunk(name, content):
        return struct.pack(">L", len(content)) + name + content + struct.pack(">L", zlib.crc32(name + content))

    def rows(part):
        if part.size == 0:
            return b""
        result = b""
        for row in part:
            if depth == 16:
                result += b"\0" + row.astype(">u2").tobytes()
            else:
                bits = numpy.unpackbits(row.astype(numpy.uint8).reshape(-1, 1), axis=1)[:, 8 - depth:].reshape(-1)
                result += b"\0" + numpy.packbits(bits).tobytes()
        return result

    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    if not interlaced:
        passes = [(0, 0, 1, 1)]
    data = b"".join(rows(samples[y::down, x::across]) for x, y, across, down in passes)
    header = struct.pack(">LLBBBBB", width, height, depth, color, 0, 0, interlaced)
    body = b"".join(chunk(name, content) for name, content in chunks)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + body + chunk(b"IDAT", zlib.compress(data, 9))
            + chunk(b"IEND", b""))


def pngs():
    gamma = (b"gAMA", struct.pack(">L", 100000))
    palette = numpy.random.default_rng(3).integers(0, 256, 768, dtype=numpy.uint8).tobytes()
    for depth in (1, 2, 4, 8):
        grey = levels(channels=1) >> (8 - depth)
        files[f"grey-{depth}.png"] = png(WIDTH, HEIGHT, depth, 0, grey, chunks=[gamma])
        chunks = [(b"PLTE", palette[:3 << depth]), (b"tRNS", bytes([0, 128, 255, 7][:1 << depth]))]
        files[f"palette-{depth}.png"] = png(WIDTH, HEIGHT, depth, 3, grey, chunks=chunks, interlaced=depth == 4)
    short = [(b"PLTE", palette[:30])]
    files["palette-short.png"] = png(WIDTH, HEIGHT, 8, 3, levels(channels=1) >> 4, chunks=short)
    # Grey of 16 bits around the 255 at which it is clipped.
    deep = levels(channels=1).astype(numpy.uint16) * 3
    files["grey-16.png"] = png(WIDTH, HEIGHT, 16, 0, deep)
    files["grey-16-interlaced.png"] = png(WIDTH, HEIGHT, 16, 0, deep, interlaced=True)
    for name, color, channels in [("rgb", 2, 3), ("grey-alpha", 4, 2), ("rgba", 6, 4)]:
        plain = levels(channels=channels, seed=4)
        files[f"{name}.png"] = png(WIDTH, HEIGHT, 8, color, plain)
        files[f"{name}-interlaced.png"] = png(WIDTH, HEIGHT, 8, color, plain, interlaced=True)
        random = numpy.random.default_rng(5).integers(0, 256, plain.shape)
        files[f"{name}-16.png"] = png(WIDTH, HEIGHT, 16, color, plain.astype(numpy.uint16) * 256 + random)
    pixel = struct.pack(">HHH", *[int(v) for v in levels(seed=4)[0, 0]])
    files["rgb-transparent.png"] = png(WIDTH, HEIGHT, 8, 2, levels(seed=4), chunks=[(b"tRNS", pixel)])
    files["one-pixel.png"] = png(1, 1, 8, 2, levels(1, 1))
    files["one-pixel-interlaced.png"] = png(1, 1, 8, 2, levels(1, 1), interlaced=True)
    turned = (b"eXIf", orientation(6, "MM"))
    files["turned-6.png"] = png(WIDTH, HEIGHT, 8, 6, levels(channels=4), chunks=[turned])
    text = (b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP.replace(b'"6"', b'"3"'))
    files["turned-xmp.png"] = png(WIDTH, HEIGHT, 8, 2, levels(), chunks=[text])


def codes_of(indices, depth):
    """LZW without compression: the table is cleared before it needs longer codes."""
    clear, size = 1 << depth, depth + 1
    codes = []
    for at, index in enumerate(indices):
        if at % ((1 << depth) - 2) == 0:
            codes.append(clear)
        codes.append(int(index))
    number = sum(code << (size * at) for at, code in enumerate([*codes, clear + 1]))
    data = number.to_bytes((size * (len(codes) + 1) + 7) // 8, "little")
    blocks = b"".join(bytes([len(data[at:at + 255])]) + data[at:at + 255] for at in range(0, len(data), 255))
    return bytes([depth]) + blocks + b"\0"


def gif(frame, screen, offset=(0, 0), *, common=None, own=None, transparent=None, interlaced=False):
    """A GIF of one frame of indices below 16."""
    height, width = frame.shape
    result = b"GIF89a" + struct.pack("<HHBBB", *screen, 0x83 if common else 0, 5, 0) + (common or b"")
    if transparent is not None:
        result += b"\x21\xf9\x04" + struct.pack("<BHB", 1, 0, transparent) + b"\0"
    flags = (0x83 if own else 0) | (0x40 if interlaced else 0)
    result += b"," + struct.pack("<HHHHB", *offset, width, height, flags) + (own or b"")
    if interlaced:
        frame = numpy.concatenate([frame[0::8], frame[4::8], frame[2::4], frame[1::2]])
    return result + codes_of(frame.reshape(-1), 4) + b";"


def gifs():
    files["plain.gif"] = saved(PICTURE.quantize(64), "GIF")
    frame = levels(13, 9, 1)[:, :, 0] >> 4
    colors = numpy.random.default_rng(6).integers(0, 256, 96, dtype=numpy.uint8).tobytes()
    first, second = colors[:48], colors[48:]
    files["interlaced.gif"] = gif(frame, (13, 9), common=first, interlaced=True)
    files["transparent-offset.gif"] = gif(frame, (20, 15), (5, 4), common=first, own=second, transparent=7)
    files["offset.gif"] = gif(frame, (20, 15), (7, 6), common=first)
    files["outside.gif"] = gif(frame, (10, 8), (4, 3), common=first, transparent=1)
    files["no-palette.gif"] = gif(frame, (13, 9))
    frames = [PICTURE.quantize(16), Image.fromarray(levels(seed=9)).quantize(16)]
    files["animated.gif"] = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])


def webps():
    rgba = Image.fromarray(levels(channels=4, seed=7))
    files["lossy.webp"] = saved(PICTURE, "WEBP", quality=80)
    files["lossless.webp"] = saved(PICTURE, "WEBP", lossless=True)
    files["lossy-alpha.webp"] = saved(rgba, "WEBP", quality=80)
    files["lossless-alpha.webp"] = saved(rgba, "WEBP", lossless=True, exact=True)
    files["turned-5.webp"] = saved(rgba, "WEBP", lossless=True, exact=True, exif=orientation(5))
    files["turned-7.webp"] = saved(PICTURE, "WEBP", quality=60, exif=b"Exif\0\0" + orientation(7, "MM"))
    frames = [rgba, Image.fromarray(levels(channels=4, seed=8))]
    files["animated.webp"] = saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True)
    # The first frame two pixels from the corner, on a larger canvas.
    data = bytearray(files["animated.webp"])
    canvas, frame = data.index(b"VP8X") + 12, data.index(b"ANMF") + 8
    data[canvas:canvas + 6] = (WIDTH + 4).to_bytes(3, "little") + (HEIGHT + 2).to_bytes(3, "little")
    data[frame:frame + 6] = (1).to_bytes(3, "little") * 2
    files["animated-offset.webp"] = bytes(data)


def bmp(bits, rows, *, height=HEIGHT, compression=0, palette=b"", masks=b"", header=40):
    if header == 12:
        head = struct.pack("<LHHHH", 12, WIDTH, height, 1, bits)
    else:
        colors = len(palette) // 4
        head = struct.pack("<LllHHLLllLL", header, WIDTH, height, 1, bits, compression, len(rows), 0, 0, colors, 0)
        head = (head + masks).ljust(header, b"\0")
    start = 14 + len(head) + len(palette)
    return b"BM" + struct.pack("<LLL", start + len(rows), 0, start) + head + palette + rows


def bmp_rows(samples, bits):
    """Rows from the bottom, each of whole words."""
    result = b""
    for row in samples[::-1]:
        if bits < 8:
            spread = numpy.unpackbits(row.astype(numpy.uint8).reshape(-1, 1), axis=1)[:, 8 - bits:].reshape(-1)
            data = numpy.packbits(spread).tobytes()
        else:
            data = row.astype({8: "u1", 16: "<u2", 24: "u1", 32: "<u4"}[bits]).tobytes()
        result += data.ljust((len(data) + 3) // 4 * 4, b"\0")
    return result


def bmps():
    random = numpy.random.default_rng(10)
    grey = levels(channels=1)[:, :, 0]
    for bits in (1, 4, 8):
        palette = random.integers(0, 256, 4 << bits, dtype=numpy.uint8).tobytes()
        files[f"{bits}-bit.bmp"] = bmp(bits, bmp_rows(grey >> (8 - bits), bits), palette=palette)
    files["8-bit-top-down.bmp"] = bmp(8, bmp_rows(grey[::-1], 8), height=-HEIGHT, palette=palette)
    old = random.integers(0, 256, 48, dtype=numpy.uint8).tobytes()
    files["old-4-bit.bmp"] = bmp(4, bmp_rows(grey >> 4, 4), palette=old, header=12)
    files["24-bit.bmp"] = bmp(24, bmp_rows(levels()[:, :, ::-1], 24))
    files["24-bit-top-down.bmp"] = bmp(24, bmp_rows(levels()[::-1, :, ::-1], 24), height=-HEIGHT)
    words = random.integers(0, 1 << 16, (HEIGHT, WIDTH))
    files["16-bit.bmp"] = bmp(16, bmp_rows(words, 16))
    files["565.bmp"] = bmp(16, bmp_rows(words, 16), compression=3, masks=struct.pack("<LLL", 0xF800, 0x7E0, 0x1F), header=52)
    long = random.integers(0, 1 << 32, (HEIGHT, WIDTH))
    files["32-bit.bmp"] = bmp(32, bmp_rows(long, 32))
    rgba = struct.pack("<LLLL", 0xFF, 0xFF00, 0xFF0000, 0xFF000000)
    files["32-bit-alpha.bmp"] = bmp(32, bmp_rows(long, 32), compression=3, masks=rgba, header=108)
    # Runs, single indices, a jump, an end of row. Pillow 12 misreads an odd number of single nibbles.
    runs = b"\x05\x03\x00\x03\x01\x02\x04\x00\x00\x02\x03\x00" + b"\x0c\x07\x00\x00"
    runs += b"".join(b"\x17" + bytes([row]) + b"\x00\x00" for row in range(HEIGHT - 1)) + b"\x00\x01"
    files["runs-8.bmp"] = bmp(8, runs, compression=1, palette=palette)
    nibbles = b"\x06\x12\x00\x06\x34\x56\x78\x00\x0b\x9a\x00\x00"
    nibbles += b"".join(b"\x17" + bytes([17 * (row % 16)]) + b"\x00\x00" for row in range(HEIGHT - 1)) + b"\x00\x01"
    files["runs-4.bmp"] = bmp(4, nibbles, compression=2, palette=palette[:64])


def others():
    smooth = Image.fromarray((levels(64, 48) // 2 + 60)).resize((64, 48), Image.BOX)
    files["picture.avif"] = saved(smooth, "AVIF", quality=95, subsampling="4:4:4")
    pillow_heif.register_heif_opener()
    files["picture.heic"] = saved(smooth, "HEIF", quality=95, chroma=444)


def golden(name, data):
    """What Pillow makes of a file, in the order that transformers' loader has: turned, then RGB."""
    opened = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    rgb = opened.convert("RGB")
    entry = {"file": name, "width": rgb.width, "height": rgb.height}
    pixels = rgb.tobytes()
    entry["sha256"] = hashlib.sha256(pixels).hexdigest()
    # For what another version of a library may round otherwise.
    if name.endswith((".jpg", ".avif", ".heic")) and len(pixels) < 20_000:
        entry["pixels"] = base64.b64encode(pixels).decode()
    if "A" in opened.getbands() or opened.info.get("transparency") is not None:
        rgba = opened.convert("RGBA")
        white = Image.alpha_composite(Image.new("RGBA", rgba.size, (255, 255, 255, 255)), rgba).convert("RGB")
        entry["alpha_sha256"] = hashlib.sha256(rgba.getchannel("A").tobytes()).hexdigest()
        entry["on_white_sha256"] = hashlib.sha256(white.tobytes()).hexdigest()
    return entry


def main():
    for make in (jpegs, pngs, gifs, webps, bmps, others):
        make()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (FOLDER / name).write_bytes(data)
    made_by = f"Pillow {Image.__version__}, libjpeg-turbo {features.version('libjpeg_turbo')}"
    goldens = {"made_by": made_by, "pictures": [golden(name, data) for name, data in files.items()]}
    (FOLDER / "goldens.json").write_text(json.dumps(goldens, indent=0) + "\n")
    print(len(files), sum(len(data) for data in files.values()), (FOLDER / "goldens.json").stat().st_size)


main()
