# SPDX-License-Identifier: BSD-2-Clause
#
# The folders of the tree's rooms; to be sourced. tools/rooms.list, beside this file, is the one place where they are named.
#
#   room_folders                    the topmost ones, in the order of the list: "base wire ... dissector"
#   room_names                      the rooms that are folders, and not what stands in brackets or in tools/: "base", "generator/tcp"
folders_list=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/rooms.list
room_names() { awk '!/^(#|$)/ && $1 !~ /^tools\// { print $1 }' "$folders_list"; }
room_folders() { room_names | awk '{ sub(/\/.*/, "") } !seen[$0]++' | paste -sd' '; }
