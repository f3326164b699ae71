// Windows of images as gpu/window.wgsl has them.
#define i32 int
#define vec3i ivec3
int select(int a, int b, bool of_b) { return of_b ? b : a; }
#include "gpu/window.wgsl"
