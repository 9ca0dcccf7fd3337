/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/monitor/monitor_rate.h"

#define MINUTE_NS UINT64_C(60000000000)

void monitor_rate_begin(struct monitor_rate *rate, uint64_t a_minute, uint64_t burst)
{
    *rate = (struct monitor_rate){.interval_ns = MINUTE_NS / a_minute, .burst = burst};
}

bool monitor_rate_allow(struct monitor_rate *rate, uint64_t now_ns)
{
    uint64_t room_ns = rate->interval_ns * rate->burst;
    uint64_t oldest_ns = now_ns > room_ns ? now_ns - room_ns : 0;

    if (rate->spent_ns < oldest_ns || rate->spent_ns > now_ns) /* quiet for long, or the clock was set back */
        rate->spent_ns = oldest_ns;
    if (rate->spent_ns + rate->interval_ns > now_ns) {
        rate->refused++;
        return false;
    }
    rate->spent_ns += rate->interval_ns;
    return true;
}

uint64_t monitor_rate_refused(struct monitor_rate *rate)
{
    uint64_t refused = rate->refused;

    rate->refused = 0;
    return refused;
}
