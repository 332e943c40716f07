// What dlib reads its detector with: base64 and a range decoder. Packages have their declarations, but their bodies
// only in libdlib. The arithmetic is dlib's: Copyright (C) 2004, 2006 Davis E. King, Boost Software License 1.0
// (deploy/debian/licenses/boost).
#pragma once

#include <dlib/base64.h>
#include <dlib/entropy_decoder.h>

#include <algorithm>
#include <istream>
#include <ostream>

namespace dlib {

base64::base64() : encode_table(nullptr), decode_table(new unsigned char[256]), bad_value(100), eol_style(LF) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::fill(decode_table, decode_table + 256, bad_value);
    for (unsigned char value = 0; value < 64; value++)
        decode_table[static_cast<unsigned char>(letters[value])] = value;
}

base64::~base64() { delete[] decode_table; }

void base64::decode(std::istream &in, std::ostream &out) const {
    uint32 bits = 0;
    int count = 0;
    for (int letter = in.get(); letter >= 0 && letter != '='; letter = in.get()) {
        const unsigned char value = decode_table[letter];
        if (value == bad_value) continue;
        bits = bits << 6 | value;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        out.put(static_cast<char>(bits >> count & 0xff));
    }
}

entropy_decoder_kernel_2::entropy_decoder_kernel_2()
    : initial_low(1), initial_high(0xffffffff), in(nullptr), low(initial_low), high(initial_high), target(0), r(0),
      streambuf(nullptr) {}

entropy_decoder_kernel_2::~entropy_decoder_kernel_2() {}

void entropy_decoder_kernel_2::set_stream(std::istream &stream) {
    in = &stream;
    streambuf = stream.rdbuf();
    low = initial_low;
    high = initial_high;
    target = r = 0;
    for (int byte = 0; byte < 4; byte++) target = target << 8 | static_cast<uint32>(std::max(streambuf->sbumpc(), 0));
}

uint32 entropy_decoder_kernel_2::get_target(uint32 total) {
    r = (high - low + 1) / total;
    return std::min((target - low) / r, total - 1);
}

void entropy_decoder_kernel_2::decode(uint32 low_count, uint32 high_count) {
    high = low + r * high_count - 1;
    low += r * low_count;
    r = 0;
    while (true) {
        if ((high & 0xff000000) == (low & 0xff000000)) {
            // Both share the leading byte, which is decided.
            target = target << 8 | static_cast<uint32>(std::max(streambuf->sbumpc(), 0));
            high = high << 8 | 0xff;
            low = std::max(low << 8, initial_low);
        } else if (high - low < 0x10000) {
            // The interval around a border of leading bytes is too narrow to go on; it moves to one side.
            const bool is_wide = high - low > 0x1000;
            high = low = (high >> 1) + (low >> 1);
            if (is_wide) {
                high += 0xff;
                low -= 0xff;
            }
        } else {
            return;
        }
    }
}

} // namespace dlib
